import { tenantNameProblem } from '#libs/translation'
import { z } from 'zod'

/** A tenant as registered. The kubeconfig itself stays in its file: only watcher and writer read it. */
export const tenantEntrySchema = z.strictObject({
  name: z.string().superRefine((name, context) => {
    const problem = tenantNameProblem(name)
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
  }),
  /** Tells this tenant from an earlier one of the same name. */
  uid: z.string().min(1),
  /** The host namespace that all of the tenant's objects land in. */
  hostNamespace: z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be the name of a namespace'),
  /** Path of the tenant's kubeconfig. */
  kubeconfig: z.string().min(1),
  /** The tenant's configuration as it was written; `TenantContext.config` is what follows from it. */
  config: z.record(z.string(), z.unknown()).optional(),
  /** ServiceAccount on the host that the tenant's pods run under, unless `config` says so. */
  workloadServiceAccount: z.string().min(1).optional(),
  /** Label keys that do not cross under their own name, unless `config` says so. */
  reservedLabels: z.array(z.string()).optional(),
})

export type TenantEntry = z.infer<typeof tenantEntrySchema>

/** Where the host is. */
export type HostEntry = { kubeconfig: string }

/** Bucket of the registry; keys are {@link HOST_KEY} and `tenant.<name>`. */
export const REGISTRY_BUCKET = 'causeway-registry'
export const HOST_KEY = 'host'

export function tenantKey(name: string): string {
  return `tenant.${name}`
}
