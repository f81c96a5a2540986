import type { IServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IService } from 'kubernetes-models/v1/Service';
import type { Manifest } from './kubernetes-schemas.js';
import { FOLDER, rendered } from './kustomize.js';

interface Kinds {
  readonly ConfigMap: IConfigMap;
  readonly Deployment: IDeployment;
  readonly NetworkPolicy: INetworkPolicy;
  readonly PodDisruptionBudget: IPodDisruptionBudget;
  readonly PrometheusRule: Manifest;
  readonly Service: IService;
  readonly ServiceMonitor: IServiceMonitor;
  readonly StatefulSet: IStatefulSet;
}

export function find<Kind extends keyof Kinds>(manifests: readonly Manifest[], kind: Kind): Kinds[Kind] {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`there is no ${kind}`);
  return found as unknown as Kinds[Kind];
}

export const single = rendered(`${FOLDER}/single`);
export const sharded = rendered(`${FOLDER}/sharded`);

export const deployment = find(single, 'Deployment');
export const statefulSet = find(sharded, 'StatefulSet');
export const service = find(single, 'Service');
export const serviceMonitor = find(single, 'ServiceMonitor');

export function containerOf({ spec }: IDeployment | IStatefulSet): IContainer {
  const [container, ...others] = spec?.template.spec?.containers ?? [];
  if (container === undefined || others.length > 0) throw new Error('there is to be one container');
  return container;
}
