import type { JsonObject } from '#libs/kube-model'

import type { FieldProblem } from '../api-error.ts'
import { asNumber, asObject, asString, isObject, objectsIn } from '../schema/json-shape.ts'
import { compareQuantities } from '../schema/quantity.ts'
import { duplicate, invalid, invalidAll, notFound, notSupported, required } from './field-problem.ts'
import { dnsLabelProblems, portNameProblems, portNumberProblems } from './names.ts'

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never']
const PROTOCOLS = ['SCTP', 'TCP', 'UDP']
const MESSAGE_POLICIES = ['FallbackToLogsOnError', 'File']

/** What is wrong with a container. `volumes` are the names of the pod's volumes, `names` those of containers before. */
export function validateContainer(
  container: JsonObject,
  field: string,
  context: { volumes: ReadonlySet<string>; names: Set<string> },
): FieldProblem[] {
  const problems: FieldProblem[] = []
  const name = asString(container['name'])
  if (name === '') problems.push(required(`${field}.name`))
  else problems.push(...invalidAll(`${field}.name`, name, dnsLabelProblems(name)))
  if (context.names.has(name)) problems.push(duplicate(`${field}.name`, name))
  else if (name !== '') context.names.add(name)
  const image = asString(container['image'])
  if (image === '') problems.push(required(`${field}.image`))
  else if (image !== image.trim()) {
    problems.push(invalid(`${field}.image`, image, 'must not have leading or trailing whitespace'))
  }
  const messagePolicy = asString(container['terminationMessagePolicy'])
  if (messagePolicy !== '' && !MESSAGE_POLICIES.includes(messagePolicy)) {
    problems.push(notSupported(`${field}.terminationMessagePolicy`, messagePolicy, MESSAGE_POLICIES))
  }
  problems.push(
    ...validatePorts(container, field),
    ...validateEnv(container, field),
    ...validateMounts(container, field, context.volumes),
  )
  const policy = asString(container['imagePullPolicy'])
  if (policy === '') problems.push(required(`${field}.imagePullPolicy`))
  else if (!PULL_POLICIES.includes(policy)) {
    problems.push(notSupported(`${field}.imagePullPolicy`, policy, PULL_POLICIES))
  }
  problems.push(...validateResources(asObject(container['resources']), `${field}.resources`))
  return problems
}

function validatePorts(container: JsonObject, field: string): FieldProblem[] {
  const problems: FieldProblem[] = []
  const names = new Set<string>()
  for (const [index, port] of objectsIn(container['ports']).entries()) {
    const path = `${field}.ports[${index}]`
    const name = asString(port['name'])
    if (name !== '') {
      problems.push(...invalidAll(`${path}.name`, name, portNameProblems(name)))
      if (names.has(name)) problems.push(duplicate(`${path}.name`, name))
      names.add(name)
    }
    const number = asNumber(port['containerPort'])
    if (number === 0) problems.push(required(`${path}.containerPort`))
    else problems.push(...invalidAll(`${path}.containerPort`, number, portNumberProblems(number)))
    const hostPort = asNumber(port['hostPort'])
    if (hostPort !== 0) problems.push(...invalidAll(`${path}.hostPort`, hostPort, portNumberProblems(hostPort)))
    const protocol = asString(port['protocol'])
    if (protocol === '') problems.push(required(`${path}.protocol`))
    else if (!PROTOCOLS.includes(protocol)) problems.push(notSupported(`${path}.protocol`, protocol, PROTOCOLS))
  }
  return problems
}

function validateEnv(container: JsonObject, field: string): FieldProblem[] {
  const problems: FieldProblem[] = []
  for (const [index, variable] of objectsIn(container['env']).entries()) {
    const path = `${field}.env[${index}]`
    const name = asString(variable['name'])
    if (name === '') problems.push(required(`${path}.name`))
    else if (!/^[ -<>-~]+$/.test(name)) {
      problems.push(
        invalid(
          `${path}.name`,
          name,
          "a valid environment variable name must consist only of printable ASCII characters other than '='",
        ),
      )
    }
    const source = variable['valueFrom']
    if (!isObject(source)) continue
    const sources = Object.keys(source)
    if (sources.length === 0) {
      problems.push(
        invalid(
          `${path}.valueFrom`,
          '',
          'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
        ),
      )
    } else if (asString(variable['value']) !== '') {
      problems.push(invalid(`${path}.valueFrom`, '', 'may not be specified when `value` is not empty'))
    } else if (sources.length > 1) {
      problems.push(invalid(`${path}.valueFrom`, '', 'may not have more than one field specified at a time'))
    }
    for (const reference of ['configMapKeyRef', 'secretKeyRef']) {
      const value = source[reference]
      if (isObject(value) && asString(value['key']) === '')
        problems.push(required(`${path}.valueFrom.${reference}.key`))
    }
  }
  return problems
}

function validateMounts(container: JsonObject, field: string, volumes: ReadonlySet<string>): FieldProblem[] {
  const problems: FieldProblem[] = []
  const paths = new Set<string>()
  for (const [index, mount] of objectsIn(container['volumeMounts']).entries()) {
    const path = `${field}.volumeMounts[${index}]`
    const name = asString(mount['name'])
    if (name === '') problems.push(required(`${path}.name`))
    else if (!volumes.has(name)) problems.push(notFound(`${path}.name`, name))
    const mountPath = asString(mount['mountPath'])
    if (mountPath === '') problems.push(required(`${path}.mountPath`))
    else if (paths.has(mountPath)) problems.push(invalid(`${path}.mountPath`, mountPath, 'must be unique'))
    paths.add(mountPath)
  }
  return problems
}

function validateResources(resources: JsonObject, field: string): FieldProblem[] {
  const problems: FieldProblem[] = []
  const limits = asObject(resources['limits'])
  for (const [kind, amounts] of Object.entries({ limits, requests: asObject(resources['requests']) })) {
    for (const [name, amount] of Object.entries(amounts)) {
      if (compareQuantities(amount as string, '0') < 0) {
        problems.push(invalid(`${field}.${kind}[${name}]`, amount, 'must be greater than or equal to 0'))
      }
    }
  }
  for (const [name, amount] of Object.entries(asObject(resources['requests']))) {
    const limit = limits[name]
    if (limit !== undefined && compareQuantities(amount as string, limit as string) > 0) {
      problems.push(
        invalid(`${field}.requests`, amount, `must be less than or equal to ${name} limit of ${limit as string}`),
      )
    }
  }
  return problems
}
