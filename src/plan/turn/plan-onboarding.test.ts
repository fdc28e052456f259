import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KnownProposal } from '@backporch/forge/hosted-forge'
import { parseObjectId } from '@backporch/kyaml/files'
import {
  CONFIGURE_REF,
  type ConfigureBranch,
  type OnboardingObservation,
  planOnboarding,
} from './plan-onboarding.ts'

const HEAD = parseObjectId('a'.repeat(40))
const files = [{ path: '.drift/policy.yaml', text: 'mode: Warn\n' }]
const branch = (more: Partial<ConfigureBranch> = {}): ConfigureBranch => ({
  commit: HEAD,
  editedBy: undefined,
  landed: false,
  texts: new Map([['.drift/policy.yaml', 'mode: Warn\n']]),
  ...more,
})
const proposal = (
  state: KnownProposal['state'],
  more: Partial<KnownProposal> = {},
): KnownProposal => ({
  number: 1,
  label: '#1',
  url: '',
  ref: CONFIGURE_REF,
  baseBranch: 'main',
  state,
  commit: HEAD,
  title: '',
  body: '',
  labels: [],
  draft: false,
  decidedBy: 'ada',
  decidedAt: undefined,
  ...more,
})
const plan = (more: Partial<OnboardingObservation>, request = {}) =>
  planOnboarding(
    { hosted: true, enrolled: undefined, branch: undefined, proposal: undefined, files, ...more },
    { again: false, remove: false, ...request },
  )
const propose = (
  push: { from: typeof HEAD | null } | undefined,
  needsConfirmation: boolean,
  editedBy?: string,
) => ({
  kind: 'propose',
  push,
  needsConfirmation,
  editedBy,
})

test('without a branch, a new one is proposed after confirmation', () => {
  assert.deepEqual(plan({}), propose({ from: null }, true))
})

test('an open proposal is unchanged, or updated without confirmation when the findings changed', () => {
  assert.deepEqual(
    plan({ branch: branch(), proposal: proposal('open') }),
    propose(undefined, false),
  )
  assert.deepEqual(
    plan({ branch: branch({ texts: new Map() }), proposal: proposal('open') }),
    propose({ from: HEAD }, false),
  )
})

test('an edited branch is never pushed to', () => {
  const edited = branch({ editedBy: 'Ada', texts: new Map() })
  assert.deepEqual(
    plan({ branch: edited, proposal: proposal('open') }),
    propose(undefined, false, 'Ada'),
  )
  assert.deepEqual(plan({ branch: edited, hosted: false }), propose(undefined, false, 'Ada'))
})

test('a branch without a proposal gets its proposal after confirmation', () => {
  assert.deepEqual(plan({ branch: branch() }), propose(undefined, true))
  assert.deepEqual(plan({ branch: branch(), hosted: false }), propose(undefined, false))
})

test('a policy on the base branch ends onboarding; only a merged branch is deleted', () => {
  const enrolled = '.drift/policy.yaml:1'
  assert.deepEqual(plan({ enrolled }), { kind: 'enrolled', where: enrolled, cleanUp: undefined })
  assert.deepEqual(plan({ enrolled, branch: branch({ landed: true }) }), {
    kind: 'enrolled',
    where: enrolled,
    cleanUp: HEAD,
  })
  assert.deepEqual(
    plan({ enrolled, branch: branch({ editedBy: 'Ada' }), proposal: proposal('merged') }),
    {
      kind: 'enrolled',
      where: enrolled,
      cleanUp: HEAD,
    },
  )
  const moved = proposal('merged', { commit: parseObjectId('b'.repeat(40)) })
  assert.deepEqual(plan({ enrolled, branch: branch(), proposal: moved }), {
    kind: 'enrolled',
    where: enrolled,
    cleanUp: undefined,
  })
})

test('a closed proposal is final until requested again; only an unedited branch is deleted', () => {
  const closed = proposal('closed')
  assert.deepEqual(plan({ proposal: closed }), {
    kind: 'declined',
    proposal: closed,
    cleanUp: undefined,
    editedBy: undefined,
  })
  assert.deepEqual(plan({ proposal: closed, branch: branch() }), {
    kind: 'declined',
    proposal: closed,
    cleanUp: HEAD,
    editedBy: undefined,
  })
  assert.deepEqual(plan({ proposal: closed, branch: branch({ editedBy: 'Ada' }) }), {
    kind: 'declined',
    proposal: closed,
    cleanUp: undefined,
    editedBy: 'Ada',
  })
  assert.deepEqual(plan({ proposal: closed }, { again: true }), propose({ from: null }, true))
})

test('a policy that was merged and later removed is proposed again', () => {
  assert.deepEqual(plan({ proposal: proposal('merged') }), propose({ from: null }, true))
  assert.deepEqual(
    plan({ proposal: proposal('merged'), branch: branch({ editedBy: 'Ada' }) }),
    propose({ from: HEAD }, true),
  )
})

test('remove deletes even an edited branch, but not a merged policy', () => {
  assert.deepEqual(plan({ branch: branch({ editedBy: 'Ada' }) }, { remove: true }), {
    kind: 'remove',
    branch: HEAD,
    editedBy: 'Ada',
  })
  assert.deepEqual(plan({}, { remove: true }), { kind: 'nothing-to-remove' })
  assert.equal(plan({ enrolled: 'x', branch: branch() }, { remove: true }).kind, 'enrolled')
})
