import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeOf } from '../../../test/fakes/record-samples.ts'
import { ONBOARDING } from '../../../test/golden/proposals/onboarding-samples.ts'
import type { Change } from '../../record/documents/change.ts'
import {
  type ExpectedProposal,
  formatOnboardingText,
  type OnboardingSubject,
} from './onboarding-text.ts'

function proposal(name: string, risk: Change['risk'], objects = 1): ExpectedProposal {
  const ref = (index: number) => ({
    group: '',
    kind: 'ConfigMap',
    namespace: 'shop',
    name: `${name}-${index}`,
  })
  const changes = Array.from({ length: objects }, (_each, index) =>
    changeOf({ risk, ref: ref(index) }),
  )
  return { packageName: name, cluster: 'prod', changes, mode: 'Propose' }
}

/** The line about mode Propose everywhere. */
function line(
  proposals: readonly ExpectedProposal[],
  limits: Partial<OnboardingSubject['limits']> = {},
  objects = 1_000,
): string {
  const expected = {
    ...ONBOARDING.expected,
    failed: [],
    incomplete: 0,
    muted: { fields: 0, rules: 0 },
    proposals,
    objects,
  }
  const modes = { Propose: proposals.length, Warn: 0, Off: 0 }
  const { body } = formatOnboardingText({
    ...ONBOARDING,
    limits: { ...ONBOARDING.limits, ...limits },
    expected: { ...expected, modes },
  })
  const lines = body.split('\n')
  const everywhere = lines.find((one) => one.startsWith('- With mode')) ?? ''
  const stands = lines.find((one) => one.startsWith('- With this policy')) ?? ''
  assert.equal(
    /\*\*\d+ pull requests?/.exec(stands)?.[0],
    /\*\*\d+ pull requests?/.exec(everywhere)?.[0],
    'all of them have the mode',
  )
  return everywhere
}

test('drift that waits for the digest is counted apart from the pull requests of today', () => {
  const proposals = [proposal('a', 'medium'), proposal('b', 'low'), proposal('c', 'low')]
  assert.match(
    line(proposals),
    /\*\*1 pull request today\*\* \(0 critical, 0 high\); \*\*2 more\*\* of low risk wait for the digest \(`0 8 \* \* MON UTC`\)\.$/,
  )
  assert.match(
    line(proposals, { digest: undefined }),
    /\*\*3 pull requests today\*\* .*, at most 2 new ones in an hour\.$/,
  )
})

test('a storm of objects in several packages is announced as a storm', () => {
  const two = [proposal('a', 'medium', 30), proposal('b', 'low', 30)]
  assert.match(
    line(two, {}, 100),
    /; more than 50 objects and 20 % of a cluster at once are a storm/,
  )
  assert.doesNotMatch(line(two, {}, 300), /storm/, 'a fifth is none')
  assert.doesNotMatch(line([proposal('a', 'medium', 60)], {}, 100), /storm/, 'one package is none')
  assert.doesNotMatch(line(two, { stormShare: 0 }, 100), /storm/)
})
