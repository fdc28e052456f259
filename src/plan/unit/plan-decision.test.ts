import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftOf } from '../../../test/fakes/drift-samples.ts'
import {
  gitOf,
  observationOf,
  proposedOf,
  refusalOf,
} from '../../../test/fakes/observation-builder.ts'
import type { Observation, OpenBranch } from '../observation/observation.ts'
import { openProposal } from './plan-decision.ts'

const REPLICAS = driftOf('spec.replicas')
const PROPOSED = proposedOf([REPLICAS])
const DRAFT = proposedOf([REPLICAS], { policy: { ...PROPOSED.policy, mode: 'Warn' } })
const UNREADABLE = {
  location: 'branch',
  episode: '1a2b3c4d',
  where: 'proposed/apps/web/drift-1a2b3c4d',
  code: 'BP1110',
  why: 'cut',
} as const

function withBranch(more: Partial<OpenBranch>): Observation {
  const branches = PROPOSED.git.branches.map((branch) => ({ ...branch, ...more }))
  return { ...PROPOSED, git: { ...PROPOSED.git, branches } }
}

test('the open proposal of a unit is the one to decide', () => {
  const [branch] = PROPOSED.git.branches
  assert.equal(openProposal(PROPOSED), branch)
  const unreadable = { ...PROPOSED, git: { ...PROPOSED.git, unreadable: [UNREADABLE] } }
  assert.equal(openProposal(unreadable), branch, 'another branch cannot be read')
})

const REFUSED: readonly (readonly [
  name: string,
  unit: Observation,
  code: string,
  why: RegExp,
  remedy: RegExp,
])[] = [
  [
    'no proposal is open',
    observationOf(),
    'BP2004',
    /^nothing was proposed, or it was decided before$/,
    /^backporch diff apps\/web/,
  ],
  [
    'only a draft exists',
    DRAFT,
    'BP2004',
    /^drift-[0-9a-f]{8} is recorded as a draft only$/,
    /^propose it: backporch restore apps\/web/,
  ],
  [
    'its record is unreadable',
    observationOf([], { git: gitOf({ unreadable: [UNREADABLE] }) }),
    'BP1110',
    /^its record cannot be read: cut$/,
    /^merge the branch by hand, or delete it/,
  ],
  [
    'only a decided record is unreadable',
    observationOf([], { git: gitOf({ unreadable: [{ ...UNREADABLE, location: 'base' }] }) }),
    'BP2004',
    /^nothing was proposed/,
    /^backporch diff/,
  ],
  [
    'its branch has a foreign commit',
    withBranch({ foreign: true }),
    'BP2009',
    /^what would be merged is not what was recorded$/,
    /^merge the branch/,
  ],
  [
    'its branch has a known foreign commit',
    withBranch({ foreign: true, foreignWhy: 'a commit of Ada' }),
    'BP2009',
    /^a commit of Ada$/,
    /^merge the branch/,
  ],
  [
    'it is for two clusters',
    withBranch({ others: [{ path: 'x', record: undefined }] }),
    'BP2009',
    /^one decision applies to all of them/,
    /the comment \/exclude prod$/,
  ],
]

for (const [name, unit, code, why, remedy] of REFUSED) {
  test(`rejects a decision when ${name}`, () => {
    const refused = refusalOf(() => openProposal(unit))
    assert.equal(refused.code, code)
    assert.match(refused.why, why)
    assert.match(refused.remedy, remedy)
  })
}
