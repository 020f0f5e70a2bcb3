import { z } from 'zod'

/** A switch with its default. */
export function enabled(byDefault: boolean, what: string) {
  return z
    .boolean()
    .default(byDefault)
    .describe(what)
    .meta({ examples: [!byDefault] })
}

/** A switch that may be left to the rule its description states. */
export function enabledAuto(what: string) {
  return z
    .union([z.boolean(), z.literal('auto')])
    .default('auto')
    .describe(what)
    .meta({ examples: [true] })
}

const patchReference = z
  .strictObject({
    apiVersion: z
      .string()
      .min(1)
      .describe('API version of what is referred to')
      .meta({ examples: ['v1'] }),
    apiVersionPath: z
      .string()
      .optional()
      .describe('Path, relative to `path`, that holds the API version; `apiVersion` where it is absent')
      .meta({ examples: ['apiVersion'] }),
    kind: z
      .string()
      .min(1)
      .describe('Kind of what is referred to')
      .meta({ examples: ['Secret'] }),
    kindPath: z
      .string()
      .optional()
      .describe('Path, relative to `path`, that holds the kind; `kind` where it is absent')
      .meta({ examples: ['kind'] }),
    namePath: z
      .string()
      .optional()
      .describe('Path, relative to `path`, that holds the name; `path` itself where it is not given')
      .meta({ examples: ['name'] }),
    namespacePath: z
      .string()
      .optional()
      .describe('Path, relative to `path`, that holds the namespace; the object’s own where it is absent')
      .meta({ examples: ['namespace'] }),
  })
  .describe('The value is the name of another object of the tenant: it becomes that object’s name on the host')

const patch = z.strictObject({
  path: z
    .string()
    .min(1, 'is empty; write a path such as spec.issuerRef.name')
    .describe(
      'Where in the object on the host; `[*]` stands for every item of a list. Nothing is done where it is not there',
    )
    .meta({ examples: ['spec.dnsNames[*]'] }),
  expression: z
    .string()
    .min(1)
    .optional()
    .describe('What the value becomes on its way out, in CEL; the value is called `value`')
    .meta({ examples: ['value + ".tenants.example.com"'] }),
  reverseExpression: z
    .string()
    .min(1)
    .optional()
    .describe('What the value becomes on its way back, for fields that cross both ways, in CEL')
    .meta({ examples: ['value.trimSuffix(".tenants.example.com")'] }),
  reference: patchReference.optional(),
  labels: z
    .strictObject({})
    .optional()
    .describe('The value is a set or selector of labels: it is confined to the tenant’s objects')
    .meta({ examples: [{}] }),
})

/** Changes of single fields while they cross. */
export const patches = z
  .array(patch)
  .default([])
  .describe('Changes of single fields while objects of this kind cross')
  .meta({ id: 'Patches', examples: [[{ path: 'metadata.annotations.team', expression: '"tenant-" + value' }]] })

const requirement = z.strictObject({
  key: z
    .string()
    .min(1)
    .describe('Key of the label')
    .meta({ examples: ['tier'] }),
  operator: z
    .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
    .describe('How the label is compared')
    .meta({ examples: ['In'] }),
  values: z
    .array(z.string())
    .optional()
    .describe('Values for In and NotIn')
    .meta({ examples: [['gold', 'silver']] }),
})

/** A label selector of Kubernetes; empty selects everything. */
export const labelSelector = z
  .strictObject({
    matchLabels: z
      .record(z.string(), z.string())
      .default({})
      .describe('Labels that must have these values')
      .meta({ examples: [{ 'example.com/tenants': 'all' }] }),
    matchExpressions: z
      .array(requirement)
      .default([])
      .describe('Further terms; all must hold')
      .meta({ examples: [[{ key: 'tier', operator: 'In', values: ['gold'] }]] }),
  })
  .prefault({})
  .describe('Which host objects the tenant sees; empty: all')
  .meta({ id: 'LabelSelector' })

/** Objects by name, and where they appear on the other side. */
export const mappings = z
  .strictObject({
    byName: z
      .record(z.string(), z.string())
      .default({})
      .describe(
        'From host: `namespace/name` there to `namespace/name` in the tenant; `ns/*` is all of a namespace, and `/name` and an empty key speak of the tenant’s own host namespace. Of namespaces to the host: name in the tenant to name on the host',
      )
      .meta({ examples: [{ 'shared/*': 'from-host/*', 'infra/ca-bundle': 'default/ca-bundle' }] }),
  })
  .prefault({})
  .describe('Which objects, and where they appear on the other side')
  .meta({ id: 'Mappings' })

/** A kind with nothing but a switch and patches. */
export function kindSwitch(byDefault: boolean, what: string) {
  return z
    .strictObject({ enabled: enabled(byDefault, what), patches })
    .prefault({})
    .describe(what)
}

/** A kind whose switch follows a rule unless it is set. */
export function autoSwitch(what: string) {
  return z
    .strictObject({ enabled: enabledAuto(what), patches })
    .prefault({})
    .describe(what)
}

/** A kind of which `all` objects cross, or only those that something refers to. */
export function whenUsedSwitch(what: string) {
  return z
    .strictObject({
      enabled: enabled(true, what),
      all: z
        .boolean()
        .default(false)
        .describe('All of them, not only those that something synced refers to')
        .meta({ examples: [true] }),
      patches,
    })
    .prefault({})
    .describe(what)
}

/** A kind of classes, mirrored by selector. */
export function classSwitch(what: string) {
  return z
    .strictObject({ enabled: enabled(false, what), selector: labelSelector, patches })
    .prefault({})
    .describe(what)
}

/** A kind of which host objects are mirrored by name. */
export function mappedSwitch(what: string) {
  return z
    .strictObject({ enabled: enabled(false, what), mappings, patches })
    .prefault({})
    .describe(what)
}
