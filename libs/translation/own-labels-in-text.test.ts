import { expect, test } from 'vitest'
import { withoutOwnLabels } from './own-labels-in-text.ts'

test.each([
  [
    '&LabelSelector{MatchLabels:map[string]string{app: web,causeway.dev/namespace: default,causeway.dev/tenant: team-a,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:tier,Operator:In,Values:[front],},LabelSelectorRequirement{Key:causeway.dev/namespace,Operator:In,Values:[a b],},},}',
    '&LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:tier,Operator:In,Values:[front],},},}',
  ],
  [
    'v1.LabelSelector{MatchLabels:map[string]string{"causeway.dev/tenant":"team-a", "app":"web"}, MatchExpressions:[]v1.LabelSelectorRequirement{v1.LabelSelectorRequirement{Key:"causeway.dev/ns-0af3", Operator:"In", Values:[]string{"x"}}}}',
    'v1.LabelSelector{MatchLabels:map[string]string{"app":"web"}, MatchExpressions:[]v1.LabelSelectorRequirement{}}',
  ],
  [
    'labels map[app:web causeway.dev/namespace:default causeway.dev/tenant:team-a] do not match',
    'labels map[app:web] do not match',
  ],
  ['no pods for app=web,causeway.dev/tenant=team-a', 'no pods for app=web'],
  ['causeway.dev/namespace in (a, b),app=web,!causeway.dev/x', 'app=web'],
  [
    '{"matchLabels":{"app":"web","causeway.dev/tenant":"team-a"},"matchExpressions":[{"key":"causeway.dev/namespace","operator":"In","values":["a"]}]}',
    '{"matchLabels":{"app":"web"},"matchExpressions":[]}',
  ],
  ['no pods for "app=web,causeway.dev/tenant=team-a"', 'no pods for "app=web"'],
  ['metadata.annotations[causeway.dev/host-name]: invalid', 'metadata.annotations[]: invalid'],
])('%s loses what is ours', (text, expected) => {
  const told = withoutOwnLabels(text)
  expect(told).not.toContain('causeway.dev')
  expect(told).toBe(expected)
})

test('a text with nothing of ours is left as it is', () => {
  expect(withoutOwnLabels('a, b, )')).toBe('a, b, )')
})
