import type { Clock } from '#libs/kernel'
import type { ClusterApi } from '../cluster-api.ts'
import type { Controller, ControllerContext, ControllerLog, ServedResources } from './controller-context.ts'
import { startDaemonSetController } from './daemon-set-controller.ts'
import { startDeploymentController } from './deployment-controller.ts'
import { startDisruptionController } from './disruption-controller.ts'
import { startEndpointsController } from './endpoints-controller.ts'
import { startGarbageCollector } from './garbage-collector.ts'
import { createInformers } from './informer.ts'
import { startJobController } from './job-controller.ts'
import { startNamespaceController } from './namespace-controller.ts'
import { createObjectGraph } from './object-graph.ts'
import { startQuotaController } from './quota-controller.ts'
import { startReplicaSetController } from './replica-set-controller.ts'
import { startServiceAccountController } from './service-account-controller.ts'
import { startStatefulSetController } from './stateful-set-controller.ts'
import { startVolumeProtectionController } from './volume-protection-controller.ts'

export type { ControllerLog } from './controller-context.ts'

export type ControllersOptions = {
  clock: Clock
  log: ControllerLog
  /** Every resource the cluster serves; those that can be watched and deleted are collected. */
  resources: ServedResources
  /** PEM of the CA that signs the cluster's API; without it no `kube-root-ca.crt` is kept. */
  caCertificate?: string
  /** A number in [0, 1), for generated names and jitter. @default Math.random */
  random?: () => number
}

/** Starts the controllers of a cluster in this process. They wake by its changes and never block the event loop long. */
export function startControllers(api: ClusterApi, options: ControllersOptions): Controller {
  const informers = createInformers(api)
  const graph = createObjectGraph(api, options.resources)
  const { clock, log, random = Math.random } = options
  const context: ControllerContext = { api, informers, clock, log, random }
  const controllers = [
    startServiceAccountController(context, options.caCertificate),
    startNamespaceController(context, graph),
    startGarbageCollector(context, graph),
    startReplicaSetController(context),
    startDeploymentController(context),
    startStatefulSetController(context),
    startDaemonSetController(context),
    startJobController(context),
    startEndpointsController(context),
    startVolumeProtectionController(context),
    startQuotaController(context, graph),
    startDisruptionController(context),
  ]
  return {
    close: () => {
      for (const controller of controllers) controller.close()
      graph.close()
      informers.close()
    },
  }
}
