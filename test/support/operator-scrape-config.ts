/*
 * The scrape configuration that prometheus-operator generates for a ServiceMonitor, with its order of relabeling. Only the
 * service discovery differs: a static target has the labels that Kubernetes would discover.
 */

export interface Relabeling {
  readonly sourceLabels?: readonly string[];
  readonly targetLabel?: string;
  readonly regex?: string;
  readonly replacement?: string;
  readonly action?: string;
}

export interface DiscoveredPod {
  readonly address: string;
  readonly namespace: string;
  readonly service: string;
  readonly serviceLabels: Readonly<Record<string, string>>;
  readonly pod: string;
  readonly podLabels: Readonly<Record<string, string>>;
  readonly container: string;
  readonly portName: string;
}

const metaName = (label: string): string => label.replaceAll(/\W/g, '_');

/** `matchLabels` and `port` are those of the ServiceMonitor, as are the relabelings. */
export function operatorScrapeConfig(
  pod: DiscoveredPod,
  matchLabels: Readonly<Record<string, string>>,
  port: string,
  relabelings: readonly Relabeling[] = [],
) {
  const { address, namespace, service, serviceLabels, pod: podName, podLabels, container, portName } = pod;
  const discovered = {
    __meta_kubernetes_namespace: namespace,
    __meta_kubernetes_service_name: service,
    __meta_kubernetes_endpoint_port_name: portName,
    __meta_kubernetes_endpoint_address_target_kind: 'Pod',
    __meta_kubernetes_endpoint_address_target_name: podName,
    __meta_kubernetes_pod_name: podName,
    __meta_kubernetes_pod_container_name: container,
    __meta_kubernetes_pod_phase: 'Running',
    ...Object.fromEntries(
      Object.entries(podLabels).map(([name, value]) => [`__meta_kubernetes_pod_label_${metaName(name)}`, value]),
    ),
    ...Object.fromEntries(
      Object.entries(serviceLabels).flatMap(([name, value]) => [
        [`__meta_kubernetes_service_label_${metaName(name)}`, value],
        [`__meta_kubernetes_service_labelpresent_${metaName(name)}`, 'true'],
      ]),
    ),
  };
  return {
    job_name: `serviceMonitor/${namespace}/${service}/0`,
    honor_timestamps: true,
    honor_labels: false,
    static_configs: [{ targets: [address], labels: discovered }],
    relabel_configs: [
      { source_labels: ['job'], target_label: '__tmp_prometheus_job_name' },
      ...Object.entries(matchLabels).map(([name, value]) => ({
        action: 'keep',
        source_labels: [
          `__meta_kubernetes_service_label_${metaName(name)}`,
          `__meta_kubernetes_service_labelpresent_${metaName(name)}`,
        ],
        regex: `(${value});true`,
      })),
      { action: 'keep', source_labels: ['__meta_kubernetes_endpoint_port_name'], regex: port },
      {
        source_labels: [
          '__meta_kubernetes_endpoint_address_target_kind',
          '__meta_kubernetes_endpoint_address_target_name',
        ],
        separator: ';',
        regex: 'Pod;(.*)',
        replacement: '${1}',
        target_label: 'pod',
      },
      { source_labels: ['__meta_kubernetes_namespace'], target_label: 'namespace' },
      { source_labels: ['__meta_kubernetes_service_name'], target_label: 'service' },
      { source_labels: ['__meta_kubernetes_pod_name'], target_label: 'pod' },
      { source_labels: ['__meta_kubernetes_pod_container_name'], target_label: 'container' },
      { action: 'drop', source_labels: ['__meta_kubernetes_pod_phase'], regex: '(Failed|Succeeded)' },
      { source_labels: ['__meta_kubernetes_service_name'], target_label: 'job', replacement: '${1}' },
      { target_label: 'endpoint', replacement: port },
      ...relabelings.map(({ sourceLabels, targetLabel, ...rest }) => ({
        ...rest,
        ...(sourceLabels && { source_labels: sourceLabels }),
        ...(targetLabel !== undefined && { target_label: targetLabel }),
      })),
    ],
  };
}
