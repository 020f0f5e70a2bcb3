import { KubeconfigError } from '../errors.ts'
import type { ClusterAccess } from './cluster-config.ts'
import { readFileOrFail } from './kubeconfig-file.ts'

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Access of the pod we run in, by its service account. */
export async function inClusterAccess(env: Readonly<Record<string, string | undefined>>): Promise<ClusterAccess> {
  const host = env['KUBERNETES_SERVICE_HOST']
  if (!host) throw new KubeconfigError('in-cluster access: KUBERNETES_SERVICE_HOST is not set; this is not a pod')
  const [token, ca] = await Promise.all([
    readFileOrFail(`${ACCOUNT}/token`, 'in-cluster access: service account token'),
    readFileOrFail(`${ACCOUNT}/ca.crt`, 'in-cluster access: CA'),
  ])
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${env['KUBERNETES_SERVICE_PORT'] ?? '443'}`,
    tls: { ca },
    headers: { authorization: `Bearer ${token.trim()}` },
  }
}
