// Alerts and dashboards as a mixin for jsonnet, from the files that Prometheus and Grafana load.
{
  prometheusAlerts+:: std.parseYaml(importstr '../prometheus/alerts.yml'),
  grafanaDashboards+:: {
    'bridge-overview.json': import '../grafana/dashboards/bridge-overview.json',
    'cross-chain.json': import '../grafana/dashboards/cross-chain.json',
    'exporter.json': import '../grafana/dashboards/exporter.json',
    'validator.json': import '../grafana/dashboards/validator.json',
  },
}
