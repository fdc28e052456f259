import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CheckRun } from '@backporch/forge/check-run'
import { GITHUB } from '../../../test/fakes/dialects.ts'
import {
  MASS,
  manyChanges,
  PROPOSALS,
  REPLICAS,
  subjectOf,
} from '../../../test/golden/proposals/samples.ts'
import type { Change } from '../../record/documents/change.ts'
import { checkButtons, findActionCommands } from './check-run-buttons.ts'
import {
  checkKey,
  checkRun,
  createDecidedCheckRun,
  createMassCheckRun,
  createNotObservedCheckRun,
} from './check-run-text.ts'
import {
  createMassStatuses,
  createNotObservedStatus,
  createProposalStatuses,
} from './proposal-statuses.ts'
import type { ProposalSubject } from './proposal-subject.ts'
import { formatSourceUrl } from './words.ts'

const runOf = (subject: ProposalSubject, complete = true): CheckRun =>
  checkRun(subject, createProposalStatuses(subject, complete))
const ALL: readonly (readonly [string, CheckRun])[] = [
  ...Object.entries(PROPOSALS).map(([name, subject]) => [name, runOf(subject)] as const),
  ['mass', createMassCheckRun(MASS, createMassStatuses(MASS))],
]

for (const [name, run] of ALL) {
  test(`the check stays within the limits of GitHub: ${name}`, () => {
    assert.ok(run.title.length <= 255 && !run.title.includes('\n'))
    assert.ok(new TextEncoder().encode(run.summary).length <= 65_535)
    assert.ok(run.annotations.length <= 200)
    for (const { title, message, path, line } of run.annotations) {
      assert.ok(title.length <= 255 && message.length <= 64_000 && path !== '' && line > 0)
      assert.doesNotMatch(`${title}${message}`, /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
    }
    assert.ok(run.buttons.length >= 2 && run.buttons.length <= 3)
    assert.match(run.key, /^[0-9a-f]{16}$/)
  })

  test(`the check mentions no person and has no foreign HTML: ${name}`, () => {
    const outsideCode = run.summary
      .replaceAll(/(`+)(?!`).*?(?<!`)\1(?!`)/g, '')
      .replaceAll(/<\/?sub>/g, '')
    assert.doesNotMatch(outsideCode.replaceAll(/\]\(https:[^()\s]*\)/g, ']'), /@|<|^\s*\//m)
  })
}

test('the check has three buttons with short texts, and each is a command', () => {
  const buttons = checkButtons(true)
  assert.deepEqual(
    buttons.map(({ label }) => label),
    ['Switch to adopt', 'Snooze 7d', 'Re-check'],
  )
  for (const { id, label, description } of buttons) {
    assert.ok(id.length <= 20 && label.length <= 20 && description.length <= 40, id)
    assert.equal(findActionCommands(id)?.commands.length, 1)
    assert.equal(findActionCommands(id)?.label, label)
  }
  assert.deepEqual(findActionCommands('adopt')?.commands[0]?.selectors, [])
  assert.equal(findActionCommands('snooze-7d')?.commands[0]?.duration, 7 * 86_400)
  assert.equal(findActionCommands('merge'), undefined)
})

test('the adopt button appears only if all changes can be adopted and Adopt is not the plan', () => {
  const offered = (...changes: Change[]): boolean =>
    runOf(subjectOf(changes)).buttons.some(({ id }) => id === 'adopt')
  assert.ok(offered(REPLICAS))
  assert.ok(offered({ ...REPLICAS, resolution: 'Adopt' }, { ...REPLICAS, path: 'spec.x' }))
  assert.ok(!offered({ ...REPLICAS, resolution: 'Adopt' }))
  assert.ok(!offered(REPLICAS, { ...REPLICAS, path: 'data.x', redacted: true }))
})

test('annotations are at the lines that the body links to, with a level for the risk, highest risk first', () => {
  const low = { ...REPLICAS, risk: 'low' as const, source: 'apps/web/a.yaml:7' }
  const critical = {
    ...REPLICAS,
    risk: 'critical' as const,
    source: 'apps/web/b:1.yaml:12',
    path: 'spec.y',
  }
  const subject = subjectOf([low, critical])
  const { annotations } = runOf(subject)
  assert.deepEqual(
    annotations.map(({ path, line, level }) => [path, line, level]),
    [
      ['apps/web/b:1.yaml', 12, 'failure'],
      ['apps/web/a.yaml', 7, 'notice'],
    ],
  )
  assert.match(annotations[0]?.title ?? '', /^2\. Deployment .* spec\.y$/)
  assert.ok(
    runOf(subject).summary.includes(formatSourceUrl(low.source, subject.base, subject.dialect)),
  )
})

test('a change that git does not declare has no annotation, and the summary states that', () => {
  const { source: _, ...unplaced } = REPLICAS
  const { annotations, summary } = runOf(
    subjectOf([REPLICAS, { ...unplaced, change: 'unexpected' }, { ...REPLICAS, source: 'x:0' }]),
  )
  assert.equal(annotations.length, 1)
  assert.match(summary, /Annotated are 1 of 3 changes/)
})

test('a secret value is hidden in the summary and in the annotations', () => {
  const hidden = {
    ...REPLICAS,
    path: 'data.password',
    redacted: true,
    git: 'hmac-sha256:0123456789abcdef (9 bytes)',
    live: 'redacted (not read)',
  }
  const { annotations, summary } = runOf(subjectOf([hidden]))
  assert.match(annotations[0]?.message ?? '', /git declares ••••, .* has ••••/)
  assert.doesNotMatch(`${JSON.stringify(annotations)}${summary}`, /0123456789abcdef/)
})

test('of more than 200 changes the 200 riskiest have annotations, and the summary states that', () => {
  const many = manyChanges(412).map((change, index) => ({
    ...change,
    source: `apps/web/a.yaml:${index + 1}`,
  }))
  const { annotations, summary } = runOf(subjectOf(many))
  assert.equal(annotations.length, 200)
  assert.ok(summary.includes(`Annotated are 200 of ${many.length} changes`))
})

test('the check agrees with drift/fresh', () => {
  const waiting = runOf(subjectOf([REPLICAS]))
  assert.equal(waiting.state, 'undecided')
  assert.match(waiting.title, /^decision needed: 1 change in cluster /)
  const stale = runOf(subjectOf([REPLICAS]), false)
  assert.equal(stale.state, 'unsure')
  assert.match(
    stale.title,
    /^live state unknown: 1 change in cluster .*; the unit was observed only in part/,
  )
  assert.match(stale.summary, /\*\*Note:\*\* the unit was observed only in part/)
  assert.equal(checkRun(subjectOf([REPLICAS]), []).state, 'unsure')
  const status = createNotObservedStatus(['prod-eu-1'])
  const unseen = createNotObservedCheckRun('refs/heads/proposed/a/drift-1', status, GITHUB)
  assert.deepEqual(
    [unseen.state, unseen.title],
    ['unsure', `live state unknown: ${status.description}`],
  )
  const missed = {
    ...MASS,
    rows: MASS.rows.map((row) => ({ ...row, state: 'not observed' as const })),
  }
  assert.equal(createMassCheckRun(missed, createMassStatuses(missed)).state, 'unsure')
})

test('all checks of one proposal have the same key', () => {
  const subject = subjectOf([REPLICAS])
  const ref = `refs/heads/${subject.headBranch}`
  const keys = [
    runOf(subject),
    runOf(subject, false),
    createDecidedCheckRun(ref, 'verified', ''),
    createDecidedCheckRun(ref, 'declined', ''),
  ]
  assert.deepEqual(new Set(keys.map((run) => run?.key)), new Set([checkKey(ref)]))
  assert.equal(createDecidedCheckRun(ref, 'edited', ''), undefined)
})
