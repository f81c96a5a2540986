import type { IServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import type { IIngress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import type { IPodTemplateSpec } from 'kubernetes-models/v1/PodTemplateSpec';
import type { IService } from 'kubernetes-models/v1/Service';
import type { Rule } from '../support/alert-rules.js';
import type { Manifest } from './helm.js';

interface PrometheusRule extends Manifest {
  readonly spec: { readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[] };
}

interface Kinds {
  readonly ConfigMap: Manifest;
  readonly Deployment: IDeployment;
  readonly Ingress: IIngress;
  readonly NetworkPolicy: INetworkPolicy;
  readonly PersistentVolumeClaim: IPersistentVolumeClaim;
  readonly PodDisruptionBudget: IPodDisruptionBudget;
  readonly PrometheusRule: PrometheusRule;
  readonly Service: IService;
  readonly ServiceMonitor: IServiceMonitor;
  readonly StatefulSet: IStatefulSet;
}

/** The manifest of a kind. The types describe what kubeconform checks. */
export function findManifest<Kind extends keyof Kinds>(manifests: readonly Manifest[], kind: Kind): Kinds[Kind] {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`no manifest of kind ${kind}`);
  return found as unknown as Kinds[Kind];
}

/** The pod of the Deployment or StatefulSet. */
export function podOf(manifests: readonly Manifest[]): IPodTemplateSpec {
  const workload = manifests.find(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');
  if (workload === undefined) throw new Error('no manifest of kind Deployment or StatefulSet');
  return (workload as unknown as IDeployment).spec?.template ?? {};
}

export function containerOf(manifests: readonly Manifest[]): IContainer {
  const container = podOf(manifests).spec?.containers.find(({ name }) => name === 'bridge-exporter');
  if (container === undefined) throw new Error('no container of the exporter');
  return container;
}
