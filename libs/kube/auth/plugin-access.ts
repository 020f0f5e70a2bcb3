import type { RequestOptions } from 'node:https'
import { errorMessage } from '#libs/kernel'
import { KubeconfigError } from '../errors.ts'
import type { ClusterAccess } from './cluster-config.ts'
import type { KubeconfigSelection } from './kubeconfig-file.ts'
import { clusterTls, plainAccess } from './plain-access.ts'

/** Asks the credential plugin; it caches by its own expiry. */
export type PluginSession = { access(): Promise<ClusterAccess> }

/** Opens a session with the credential plugins (exec, OIDC …) of the Kubernetes client library, loaded on first use. */
export async function openPluginSession(selection: KubeconfigSelection): Promise<PluginSession> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const kubeConfig = new KubeConfig()
  kubeConfig.loadFromFile(selection.path)
  kubeConfig.setCurrentContext(selection.context)
  const base = await plainAccess(selection)
  return {
    access: async () => {
      const options: RequestOptions = {}
      try {
        await kubeConfig.applyToHTTPSOptions(options)
      } catch (error) {
        throw new KubeconfigError(
          `kubeconfig ${selection.path}, context "${selection.context}": its credential plugin failed: ${errorMessage(error)}`,
          { cause: error },
        )
      }
      const { cert, key } = options
      return {
        server: base.server,
        tls: { ...base.tls, ...clusterTls(selection), ...material('cert', cert), ...material('key', key) },
        headers: { ...base.headers, ...authorizationOf(options) },
      }
    },
  }
}

function material(name: 'cert' | 'key', value: unknown): Record<string, string | Buffer> {
  return typeof value === 'string' || Buffer.isBuffer(value) ? { [name]: value } : {}
}

function authorizationOf(options: RequestOptions): Record<string, string> {
  const headers = (options.headers ?? {}) as Record<string, unknown>
  const value = headers['Authorization'] ?? headers['authorization']
  return typeof value === 'string' ? { authorization: value } : {}
}
