import { type ResourceInfo, resourceToken } from '#libs/kube-model'
import { isNotFound } from '../errors.ts'
import type { CallOptions } from './kube-client.ts'

type Group = {
  preferredVersion?: { version?: string }
  versions?: { version?: string }[]
}
type Version = { resources?: { name?: string; kind?: string }[] }

/** Stands for a version where nothing is served: the server then says so itself. */
const ANY_VERSION = 'v1'

/** Looks up how resources without a version are served: custom resources, whose definition alone says so. */
export type ServedVersions = {
  /** The same resource in the version that the server prefers among those that serve it. Others are given back as they are. */
  resolve(resource: ResourceInfo, call?: CallOptions): Promise<ResourceInfo>
  /** Forgets what was found out: the server did not know the path. */
  forget(resource: ResourceInfo): void
}

/** @param read reads a document of discovery by its path */
export function createServedVersions(
  read: (path: string, call: CallOptions | undefined) => Promise<unknown>,
): ServedVersions {
  const found = new Map<string, ResourceInfo>()

  const lookUp = async (resource: ResourceInfo, call: CallOptions | undefined): Promise<ResourceInfo> => {
    const group = (await orNothing(read(`/apis/${resource.group}`, call))) as Group | undefined
    const preferred = group?.preferredVersion?.version
    const versions = [preferred, ...(group?.versions ?? []).map(({ version }) => version)]
    for (const version of new Set(versions)) {
      if (version === undefined) continue
      const served = (await orNothing(read(`/apis/${resource.group}/${version}`, call))) as Version | undefined
      const kind = served?.resources?.find(({ name }) => name === resource.plural)?.kind
      if (kind === undefined) continue
      const resolved = { ...resource, version, kind }
      found.set(resourceToken(resource), resolved)
      return resolved
    }
    return { ...resource, version: preferred ?? ANY_VERSION }
  }

  return {
    resolve: async (resource, call) =>
      resource.version === '' ? (found.get(resourceToken(resource)) ?? (await lookUp(resource, call))) : resource,
    forget: (resource) => void found.delete(resourceToken(resource)),
  }
}

async function orNothing(reading: Promise<unknown>): Promise<unknown> {
  try {
    return await reading
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
