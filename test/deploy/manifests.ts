import type { IServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IService } from 'kubernetes-models/v1/Service';
import type { Manifest } from './kubernetes-schemas.js';
import { FOLDER, renderKustomization } from './kustomize.js';

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

export function findManifest<Kind extends keyof Kinds>(manifests: readonly Manifest[], kind: Kind): Kinds[Kind] {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`no manifest of kind ${kind}`);
  return found as unknown as Kinds[Kind];
}

export const single = renderKustomization(`${FOLDER}/single`);
export const sharded = renderKustomization(`${FOLDER}/sharded`);

export const deployment = findManifest(single, 'Deployment');
export const statefulSet = findManifest(sharded, 'StatefulSet');
export const service = findManifest(single, 'Service');
export const serviceMonitor = findManifest(single, 'ServiceMonitor');

export function containerOf({ spec }: IDeployment | IStatefulSet): IContainer {
  const [container, ...others] = spec?.template.spec?.containers ?? [];
  if (container === undefined || others.length > 0) throw new Error('expected exactly one container');
  return container;
}
