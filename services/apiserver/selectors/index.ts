export { parseFieldSelector, requiredFieldValue } from './field-selector.ts'
export type { ObjectPredicate } from './field-selector.ts'
export { matchesLabelSelector, parseLabelSelector } from './label-selector.ts'
export type { LabelPredicate, Labels } from './label-selector.ts'
