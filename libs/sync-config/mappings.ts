/** What is wrong with an entry of `mappings.byName`, if anything. */
export function mappingProblem(from: string, to: string): string | undefined {
  const source = parts(from)
  const target = parts(to)
  if (target === undefined || target.namespace === '' || target.name === '') {
    return `"${to}" must be NAMESPACE/NAME or NAMESPACE/* in the tenant`
  }
  if (from === '')
    return target.name === '*' ? undefined : `an empty key stands for a whole namespace: map it to NAMESPACE/*`
  if (source === undefined || source.name === '') {
    return 'the key must be NAMESPACE/NAME, NAMESPACE/*, /NAME or empty'
  }
  if ((source.name === '*') !== (target.name === '*')) {
    return `"${from}" and "${to}" must both end with /* or both name an object`
  }
  return undefined
}

/** What is wrong with an entry of `sync.toHost.namespaces.mappings.byName`, which maps a tenant's namespace to a host's. */
export function namespaceMappingProblem(from: string, to: string): string | undefined {
  if (from === '' || to === '' || from.includes('/') || to.includes('/')) {
    return 'must map a namespace of the tenant to one of the host, by their names'
  }
  const wildcards = from.split('*').length - 1
  if (wildcards > 1 || wildcards !== to.split('*').length - 1)
    return `"${from}" and "${to}" must both hold one * or none`
  return undefined
}

function parts(reference: string): { namespace: string; name: string } | undefined {
  const [namespace, name, ...more] = reference.split('/')
  if (namespace === undefined || name === undefined || more.length > 0 || namespace.includes('*')) return undefined
  if (name !== '*' && name.includes('*')) return undefined
  return { namespace, name }
}
