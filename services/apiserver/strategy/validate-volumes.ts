import type { JsonObject } from '#libs/kube-model'

import type { FieldProblem } from '../api-error.ts'
import { asObject, asString, objectsIn } from '../schema/json-shape.ts'
import { duplicate, forbidden, invalidAll, required } from './field-problem.ts'
import { dnsLabelProblems } from './names.ts'

/** What is wrong with the volumes of a pod. Names of sound ones are added to `known`. */
export function validateVolumes(spec: JsonObject, path: string, known: Set<string>): FieldProblem[] {
  const problems: FieldProblem[] = []
  for (const [index, volume] of objectsIn(spec['volumes']).entries()) {
    const field = `${path}.volumes[${index}]`
    const name = asString(volume['name'])
    const own = validateSource(volume, field)
    if (name === '') own.push(required(`${field}.name`))
    else own.push(...invalidAll(`${field}.name`, name, dnsLabelProblems(name)))
    if (known.has(name)) own.push(duplicate(`${field}.name`, name))
    if (own.length === 0) known.add(name)
    problems.push(...own)
  }
  return problems
}

/** The order in which sources are looked at: the second one that is found is the forbidden one. */
const SOURCES = ['emptyDir', 'hostPath', 'gitRepo']

function validateSource(volume: JsonObject, field: string): FieldProblem[] {
  const present = Object.keys(volume).filter((key) => key !== 'name')
  const sources = [
    ...SOURCES.filter((key) => present.includes(key)),
    ...present.filter((key) => !SOURCES.includes(key)),
  ]
  const problems = sources
    .slice(1)
    .map((key) => forbidden(`${field}.${key}`, 'may not specify more than 1 volume type'))
  const [source] = sources
  if (source === undefined) return [required(field, 'must specify a volume type')]
  const value = asObject(volume[source])
  const mandatory = MANDATORY[source]
  if (mandatory !== undefined && asString(value[mandatory]) === '') {
    problems.push(required(`${field}.${source}.${mandatory}`))
  }
  return problems
}

const MANDATORY: Record<string, string> = {
  hostPath: 'path',
  secret: 'secretName',
  configMap: 'name',
  persistentVolumeClaim: 'claimName',
  nfs: 'server',
}
