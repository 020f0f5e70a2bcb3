/** What a path below a cluster's root addresses. */
export type Route =
  | { kind: 'root' }
  | { kind: 'core' }
  | { kind: 'groups' }
  | { kind: 'group'; group: string }
  | { kind: 'version'; group: string; version: string }
  | {
      kind: 'resource'
      group: string
      version: string
      plural: string
      namespace: string | undefined
      name: string | undefined
      subresource: string | undefined
      /** The deprecated `/watch/` prefix. */
      watch: boolean
    }
  | { kind: 'other'; path: string }

/** Takes a path apart. @throws URIError when the percent-encoding is broken */
export function parseRoute(path: string): Route {
  const parts = path.split('/').slice(1).map(decodeURIComponent)
  while (parts.length > 0 && parts.at(-1) === '') parts.pop()
  if (parts.length === 0) return { kind: 'root' }
  const [first, second, third] = parts
  if (first === 'api') {
    if (second === undefined) return { kind: 'core' }
    return parts.length === 2
      ? { kind: 'version', group: '', version: second }
      : resourceRoute('', second, parts.slice(2))
  }
  if (first === 'apis') {
    if (second === undefined) return { kind: 'groups' }
    if (third === undefined) return { kind: 'group', group: second }
    return parts.length === 3
      ? { kind: 'version', group: second, version: third }
      : resourceRoute(second, third, parts.slice(3))
  }
  return { kind: 'other', path }
}

function resourceRoute(group: string, version: string, rest: string[]): Route {
  const watch = rest[0] === 'watch'
  const parts = watch ? rest.slice(1) : rest
  const base = { kind: 'resource', group, version, watch } as const
  // /namespaces/<name>, /namespaces/<name>/status and …/finalize are the namespace itself; anything else is inside it.
  const isInside = parts[0] === 'namespaces' && parts.length > 2 && !(parts.length === 3 && isNamespaceSub(parts[2]))
  const [namespace, own] = isInside ? [parts[1], parts.slice(2)] : [undefined, parts]
  const [plural, name, ...subresource] = own
  if (plural === undefined) return { kind: 'version', group, version }
  return { ...base, plural, namespace, name, subresource: subresource.length === 0 ? undefined : subresource.join('/') }
}

const isNamespaceSub = (part: string | undefined): boolean => part === 'status' || part === 'finalize'
