import type { JsonObject, KubeObject } from '#libs/kube-model'

import { defaultCustom } from '../custom-resources/default-custom.ts'
import { CONFIG_DEFAULTS } from './config-defaults.ts'
import { fillStructs } from './fill.ts'
import { isObject } from './json-shape.ts'
import { defaultPodSpec, defaultPod } from './pod-defaults.ts'
import type { Gvk } from './schema.ts'
import { defaultService } from './service-defaults.ts'
import { WORKLOAD_DEFAULTS } from './workload-defaults.ts'

type Defaulter = (object: JsonObject) => void

const DEFAULTERS: Record<string, Defaulter> = {
  Pod: defaultPod,
  PodTemplate: ({ template }) => {
    if (isObject(template) && isObject(template['spec'])) defaultPodSpec(template['spec'])
  },
  Service: defaultService,
  ...WORKLOAD_DEFAULTS,
  ...CONFIG_DEFAULTS,
}

/**
 * Completes an object with the defaults of its API version, in place: those that the schema declares and those that the
 * server computes. What depends on the rest of the cluster, or on the object being new, is the strategy's.
 */
export function applyDefaults(gvk: Gvk, object: KubeObject | JsonObject): void {
  if (gvk.custom !== undefined) {
    defaultCustom(gvk.custom.schema, object as JsonObject)
    return
  }
  fillStructs(gvk, object)
  if (Object.hasOwn(DEFAULTERS, gvk.kind)) DEFAULTERS[gvk.kind]?.(object as JsonObject)
}
