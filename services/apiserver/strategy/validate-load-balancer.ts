import type { KubeObject } from '#libs/kube-model'

import type { FieldProblem } from '../api-error.ts'
import { asObject, asString, objectsIn } from '../schema/json-shape.ts'
import { specOf } from './create-strategy.ts'
import { forbidden, invalid, invalidAll, notSupported } from './field-problem.ts'
import { isIpAddress, subdomainProblems } from './names.ts'

const FIELD = 'status.loadBalancer.ingress'
const IP_MODES = ['Proxy', 'VIP']

/** What is wrong with the addresses in the status of a Service. */
export function validateServiceStatus(service: KubeObject): FieldProblem[] {
  if (pointsOf(service).length > 0 && specOf(service)['type'] !== 'LoadBalancer') {
    return [forbidden(FIELD, "may only be used when `spec.type` is 'LoadBalancer'")]
  }
  const modes = pointsOf(service).flatMap((point, index): FieldProblem[] => {
    const mode = point['ipMode']
    const field = `${FIELD}[${index}].ipMode`
    if (mode === undefined || mode === null) return []
    if (asString(point['ip']) === '') return [forbidden(field, 'may not be specified when `ip` is not set')]
    return IP_MODES.includes(asString(mode)) ? [] : [notSupported(field, mode, IP_MODES)]
  })
  return [...validateIngressStatus(service), ...modes]
}

/** What is wrong with the addresses in the status of an Ingress. */
export function validateIngressStatus(ingress: KubeObject): FieldProblem[] {
  return pointsOf(ingress).flatMap((point, index) => {
    const problems: FieldProblem[] = []
    const [ip, hostname] = [asString(point['ip']), asString(point['hostname'])]
    if (ip !== '' && !isIpAddress(ip)) {
      problems.push(
        invalid(`${FIELD}[${index}].ip`, ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'),
      )
    }
    if (hostname === '') return problems
    const field = `${FIELD}[${index}].hostname`
    problems.push(...invalidAll(field, hostname, subdomainProblems(hostname)))
    if (isIpAddress(hostname)) problems.push(invalid(field, hostname, 'must be a DNS name, not an IP address'))
    return problems
  })
}

function pointsOf(object: KubeObject) {
  return objectsIn(asObject(asObject(object['status'])['loadBalancer'])['ingress'])
}
