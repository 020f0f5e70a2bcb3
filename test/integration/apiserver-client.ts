import { Agent, request } from 'undici'
import { parse } from 'yaml'

export type Json = Record<string, unknown>
export type ApiObject = { metadata: Record<string, unknown>; [field: string]: unknown }

type Kubeconfig = {
  clusters: { cluster: { server: string; 'certificate-authority-data': string } }[]
  users: { user: { token: string } }[]
}

/** A plain client of one embedded cluster, as its kubeconfig describes it. */
export class ApiClient {
  readonly server: string
  readonly token: string
  readonly #agent: Agent

  constructor(kubeconfig: string) {
    const { clusters, users } = parse(kubeconfig) as Kubeconfig
    this.server = clusters[0]?.cluster.server ?? ''
    this.token = users[0]?.user.token ?? ''
    const ca = Buffer.from(clusters[0]?.cluster['certificate-authority-data'] ?? '', 'base64').toString()
    this.#agent = new Agent({ connect: { ca }, allowH2: true })
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: ApiObject & Json }> {
    const answer = await request(this.server + path, {
      method: method as 'GET',
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.body.text()
    const isJson = String(answer.headers['content-type']).startsWith('application/json')
    return { status: answer.statusCode, body: (isJson ? JSON.parse(text) : { text }) as ApiObject & Json }
  }

  close(): Promise<void> {
    return this.#agent.close()
  }
}
