import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../../record/documents/change.ts'
import type { DriftRecord } from '../../../record/documents/drift-record.ts'
import { attributePlan } from './comment-status.ts'
import { resolveSelectors } from './resolution-request.ts'

function change(path: string, fingerprint: string): Change {
  return {
    ref: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
    change: 'modified',
    path,
    actor: {
      manager: 'kubectl',
      operation: 'Update',
      class: 'human-tool',
      at: '',
      confidence: 'none',
    },
    risk: 'medium',
    reason: 'X',
    resolution: 'Restore',
    fingerprint,
  }
}

const SHOWN = [change('spec.a', 'a1'), change('spec.b', 'b1')]

test('numbers refer to the changes that were shown, and select the current ones', () => {
  const current = [change('spec.new', 'n1'), change('spec.b', 'b2'), change('spec.a', 'a1')]
  const resolutionRequest = resolveSelectors(
    { resolution: 'Adopt', selectors: ['2'], message: undefined, numbered: SHOWN },
    current,
  )
  assert.deepEqual(resolutionRequest.changes, new Set(['b2']))
  const all = resolveSelectors(
    { resolution: 'Adopt', selectors: [], message: undefined, numbered: SHOWN },
    current,
  )
  assert.deepEqual(all.changes, new Set(['b2', 'a1']), 'what nobody saw is not meant by "all"')
})

test('several choices are one request, and each is checked', () => {
  const requested: string[] = []
  const resolutionRequest = resolveSelectors(
    {
      resolution: 'Adopt',
      selectors: [],
      message: 'm',
      also: [{ resolution: 'Release', selectors: ['2'] }],
      by: 'ada',
      assertAllowed: (resolution, chosen) =>
        requested.push(`${resolution} ${chosen.map(({ path }) => path).join()}`),
    },
    SHOWN,
  )
  assert.deepEqual(requested, ['Adopt spec.a,spec.b', 'Release spec.b'])
  assert.deepEqual(
    [resolutionRequest.changes, resolutionRequest.more, resolutionRequest.by],
    [undefined, [{ resolution: 'Release', changes: new Set(['b1']) }], 'ada'],
  )
})

test('a change that no longer differs cannot be selected', () => {
  const request = {
    resolution: 'Adopt',
    selectors: ['2'],
    message: undefined,
    numbered: SHOWN,
  } as const
  assert.throws(() => resolveSelectors(request, [change('spec.a', 'a1')]), /no longer differ/)
  assert.deepEqual(
    resolveSelectors(request, []).changes,
    new Set(),
    'with nothing open at all, whoever plans says why',
  )
})

test('requester and earlier plan are stored across repeated requests; a terminal request clears both', () => {
  const resolutionRequest = {
    resolution: 'Adopt',
    changes: undefined,
    message: undefined,
    by: 'ada',
  } as const
  const open = (more: Partial<DriftRecord['spec']>) =>
    ({ plan: 'Restore', ...more }) as DriftRecord['spec']
  const first = attributePlan(resolutionRequest, open({}), 'Adopt')
  assert.deepEqual(first, { plannedBy: 'ada', plannedBefore: 'Restore' })
  assert.deepEqual(
    attributePlan(resolutionRequest, open({ plan: 'Adopt', ...first }), 'Adopt'),
    first,
  )
  assert.deepEqual(attributePlan(undefined, open({ plan: 'Adopt', ...first }), 'Adopt'), first)
  assert.deepEqual(
    attributePlan(
      { ...resolutionRequest, by: undefined } as never,
      open({ plan: 'Adopt', ...first }),
      'Restore',
    ),
    {},
  )
  assert.deepEqual(
    attributePlan({ ...resolutionRequest, by: '' }, open({ plan: 'Adopt', ...first }), 'Restore'),
    {
      plannedBy: '',
      plannedBefore: 'Adopt',
    },
  )
})
