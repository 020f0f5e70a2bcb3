import { jsonEqual } from '#libs/kernel'

import type { FieldProblem } from '../api-error.ts'
import { asObject, asString, objectsIn, stringsIn } from '../schema/json-shape.ts'
import { sameContent, specOf } from './create-strategy.ts'
import { immutable, invalid, notSupported, required } from './field-problem.ts'
import { isIpAddress, pathSegmentProblems } from './names.ts'
import type { KindRules } from './strategy.ts'
import { validateIngressStatus } from './validate-load-balancer.ts'

export const ENDPOINTS_RULES: KindRules = {
  validate: (object) => {
    const problems: FieldProblem[] = []
    for (const [index, subset] of objectsIn(object['subsets']).entries()) {
      for (const list of ['addresses', 'notReadyAddresses']) {
        for (const [place, address] of objectsIn(subset[list]).entries()) {
          const ip = asString(address['ip'])
          if (isIpAddress(ip)) continue
          const field = `subsets[${index}].${list}[${place}].ip`
          problems.push(
            invalid(field, ip, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'),
            invalid(field, ip, 'must be a valid IP address'),
          )
        }
      }
    }
    return problems
  },
}

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6']

export const ENDPOINT_SLICE_RULES: KindRules = {
  hasGeneration: true,
  validate: (slice) => {
    const type = asString(slice['addressType'])
    if (type === '') return [required('addressType')]
    return ADDRESS_TYPES.includes(type) ? [] : [notSupported('addressType', type, ADDRESS_TYPES)]
  },
  validateUpdate: (next, previous) =>
    next['addressType'] === previous['addressType'] ? [] : [immutable('addressType', next['addressType'] ?? null)],
}

export const NETWORK_POLICY_RULES: KindRules = {
  hasGeneration: true,
  validate: (policy) => {
    const problems: FieldProblem[] = []
    for (const [list, peers] of [
      ['ingress', 'from'],
      ['egress', 'to'],
    ] as const) {
      for (const [index, rule] of objectsIn(specOf(policy)[list]).entries()) {
        for (const [place, peer] of objectsIn(rule[peers]).entries()) {
          const cidr = asObject(peer['ipBlock'])['cidr']
          if (cidr === undefined || /^[0-9a-fA-F.:]+\/\d{1,3}$/.test(asString(cidr))) continue
          problems.push(
            invalid(
              `spec.${list}[${index}].${peers}[${place}].ipBlock.cidr`,
              cidr,
              'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
            ),
          )
        }
      }
    }
    return problems
  },
}

const PATH_TYPES = ['Exact', 'Prefix', 'ImplementationSpecific']

export const INGRESS_RULES: KindRules = {
  hasGeneration: true,
  validate: (ingress) => {
    const problems: FieldProblem[] = []
    for (const [index, rule] of objectsIn(specOf(ingress)['rules']).entries()) {
      for (const [place, path] of objectsIn(asObject(rule['http'])['paths']).entries()) {
        const field = `spec.rules[${index}].http.paths[${place}].pathType`
        const type = asString(path['pathType'])
        if (type === '') problems.push(required(field, 'pathType must be specified'))
        else if (!PATH_TYPES.includes(type)) problems.push(notSupported(field, type, PATH_TYPES))
      }
    }
    return problems
  },
  validateStatus: validateIngressStatus,
}

export const DISRUPTION_BUDGET_RULES: KindRules = {
  hasGeneration: true,
  validate: (budget) => {
    const spec = specOf(budget)
    if (spec['minAvailable'] === undefined || spec['maxUnavailable'] === undefined) return []
    const shown = {
      MinAvailable: spec['minAvailable'],
      Selector: spec['selector'] ?? null,
      MaxUnavailable: spec['maxUnavailable'],
      UnhealthyPodEvictionPolicy: spec['unhealthyPodEvictionPolicy'] ?? null,
    }
    return [invalid('spec', shown, 'minAvailable and maxUnavailable cannot be both set')]
  },
}

export const ROLE_RULES: KindRules = {
  nameProblems: pathSegmentProblems,
  validate: (role) => {
    const problems: FieldProblem[] = []
    for (const [index, rule] of objectsIn(role['rules']).entries()) {
      const field = `rules[${index}]`
      const lacks = (name: string): boolean => stringsIn(rule[name]).length === 0
      if (lacks('verbs')) problems.push(required(`${field}.verbs`, 'verbs must contain at least one value'))
      if (!lacks('nonResourceURLs')) continue
      if (lacks('apiGroups')) {
        problems.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'))
      }
      if (lacks('resources')) {
        problems.push(required(`${field}.resources`, 'resource rules must supply at least one resource'))
      }
    }
    return problems
  },
}

export const ROLE_BINDING_RULES: KindRules = {
  nameProblems: pathSegmentProblems,
  validate: (binding) => {
    const roleRef = asObject(binding['roleRef'])
    const problems: FieldProblem[] = []
    const kinds = ['Role', 'ClusterRole']
    const kind = asString(roleRef['kind'])
    if (!kinds.includes(kind)) problems.push(notSupported('roleRef.kind', kind, kinds))
    if (asString(roleRef['name']) === '') problems.push(required('roleRef.name'))
    return problems
  },
  validateUpdate: (next, previous) => {
    if (sameContent(next, previous) || jsonEqual(next['roleRef'], previous['roleRef'])) return []
    const { apiGroup, kind, name } = asObject(next['roleRef'])
    return [invalid('roleRef', { APIGroup: apiGroup, Kind: kind, Name: name }, 'cannot change roleRef')]
  },
}
