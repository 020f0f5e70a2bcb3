import { stringify } from 'yaml'

export type KubeconfigInput = {
  /** Name of cluster, user and context. */
  name: string
  /** URL of the cluster's root. */
  server: string
  /** PEM. */
  authority: string
  token: string
}

/** A kubeconfig with one context. */
export function kubeconfigText(input: KubeconfigInput): string {
  const { name, server, authority, token } = input
  const data = Buffer.from(authority).toString('base64')
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': data } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  })
}
