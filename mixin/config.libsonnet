{
  _config+:: {
    // Matchers of all series of the exporter, such as 'job="bridge-exporter"'; empty: all.
    selector: '',
    // Label that distinguishes the clusters in one store.
    clusterLabel: 'cluster',
    // The label severity of alerts, such as `critical: 'page'`.
    severities: { critical: 'critical', warning: 'warning', info: 'info', none: 'none' },
    // Address of the runbook of an alert, whose name is in lower case.
    runbookURLPattern: 'https://github.com/bridge-exporter/bridge-exporter/blob/main/docs/runbook.md#%s',
    // Address of Grafana, such as 'https://grafana.example.org', to which the path of a dashboard is appended.
    grafanaUrl: '',
    // Names of alerts to leave out, such as 'BridgeWatchdog', of which kube-prometheus has its own.
    disabledAlerts: [],
  },
}
