import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLAIN } from '../../../test/fakes/dialects.ts'
import { changeOf } from '../../../test/fakes/record-samples.ts'
import {
  FLUX,
  MASS,
  manyChanges,
  NOBODY,
  PROPOSALS,
  REPLICAS,
  subjectOf,
} from '../../../test/golden/proposals/samples.ts'
import { formatSubject } from '../../record/subject.ts'
import { formatMassText } from './mass-text.ts'
import { createOutcomeComment } from './outcome-comment.ts'
import { reportPath } from './proposal-footer.ts'
import type { ProposalSubject } from './proposal-subject.ts'
import { formatProposalText } from './proposal-text.ts'
import { wantsReport } from './report-text.ts'
import { readTicks } from './ticks.ts'

const LABELS = [
  'drift',
  'drift-plan/restore',
  'drift-plan/adopt',
  'drift-plan/release',
  'drift-plan/mixed',
  'drift-risk/critical',
  'drift-risk/high',
  'drift-risk/medium',
  'drift-risk/low',
  'drift-state/stale',
  'drift-state/edited',
  'drift-state/snoozed',
  'drift-state/no-applier',
  'drift-state/storm',
]

const bodyOf = (subject: ProposalSubject): string => formatProposalText(subject).body
const ticksIn = (subject: ProposalSubject) =>
  readTicks(bodyOf(subject).replaceAll('- [ ]', '- [x]'))
const withSettle = (subject: ProposalSubject, settle: 'syncer' | 'backporch'): ProposalSubject => ({
  ...subject,
  record: { ...subject.record, spec: { ...subject.record.spec, settle } },
})

test('the title is the subject of the commit', () => {
  const subject = subjectOf([REPLICAS])
  assert.equal(formatProposalText(subject).title, formatSubject(subject.record, 'Proposed'))
})

test('labels contain the plan and the highest risk, and every label is known', () => {
  assert.deepEqual(
    formatProposalText(
      subjectOf([REPLICAS, { ...REPLICAS, risk: 'critical', resolution: 'Adopt' }]),
    ).labels,
    ['drift', 'drift-plan/mixed', 'drift-risk/critical'],
  )
  const known = new Set(LABELS)
  for (const subject of Object.values(PROPOSALS))
    for (const label of formatProposalText(subject).labels) assert.ok(known.has(label), label)
})

test('without an applier, a Restore names the command to run, and an Adopt does not', () => {
  const restore = formatProposalText(subjectOf([REPLICAS], { applier: NOBODY }))
  assert.match(
    restore.body,
    /Merging alone does not restore the cluster\.\*\* After the merge, run:\n\n```sh\nkubectl apply /,
  )
  assert.ok(restore.labels.includes('drift-state/no-applier'))
  const adopt = formatProposalText(
    subjectOf([{ ...REPLICAS, resolution: 'Adopt' }], { applier: NOBODY }),
  )
  assert.doesNotMatch(adopt.body, /Merging alone|kubectl apply/)
  assert.ok(!adopt.labels.includes('drift-state/no-applier'))
})

test('when backporch settles, the body names no syncer and no command', () => {
  const body = bodyOf(withSettle(subjectOf([REPLICAS], { applier: NOBODY }), 'backporch'))
  assert.match(body, /after the merge, backporch applies exactly these changes and nothing else/)
  assert.doesNotMatch(body, /kubectl apply|Merging alone/)
})

test('a new cluster value is announced only if an applier exists', () => {
  assert.match(bodyOf(subjectOf([REPLICAS], { applier: FLUX })), /`5` becomes `3`: Flux/)
  assert.doesNotMatch(bodyOf(subjectOf([REPLICAS], { applier: NOBODY })), /`5` becomes `3`/)
})

test('a folder without a Kptfile is called a folder, and no link leads to a Kptfile', () => {
  const subject = subjectOf([REPLICAS])
  assert.match(bodyOf(subject), /package .* at .*\/Kptfile/)
  const body = bodyOf({ ...subject, unit: { ...subject.unit, source: 'folder' } })
  assert.match(body, /folder .* at /)
  assert.doesNotMatch(body, /\/Kptfile/)
})

test('fields that no apply removes are listed', () => {
  const added = changeOf({
    ...REPLICAS,
    change: 'added',
    git: undefined,
    live: 'on',
    path: 'metadata.annotations["a/b"]',
  })
  assert.match(
    bodyOf(subjectOf([added])),
    /One field is not declared in git\. An apply does not remove such a field/,
  )
  assert.doesNotMatch(
    bodyOf(withSettle(subjectOf([added]), 'backporch')),
    /An apply does not remove such a field/,
  )
  const taken = {
    ...added,
    notes: ['the next apply removes it: kustomize-controller takes over what kubectl-edit wrote'],
  }
  assert.doesNotMatch(bodyOf(subjectOf([taken])), /An apply does not remove such a field/)
  assert.match(
    bodyOf(subjectOf([taken, added])),
    /One field is not declared in git\. An apply does not remove such a field/,
  )
})

test('for deleted objects, the body names the copy in the record and the lost values', () => {
  const ref = { group: '', kind: 'Secret', namespace: 'shop', name: 'db' }
  const { path: _path, git: _git, live: _live, ...whole } = changeOf({ ref, change: 'unexpected' })
  const subject = subjectOf([whole])
  const copies = [{ ref, manifest: 'kind: Secret\n', lost: ['data.password'] }]
  const body = bodyOf({
    ...subject,
    record: { ...subject.record, spec: { ...subject.record.spec, copies } },
  })
  const lines = [
    '- The record keeps a copy of Secret `shop/db` without credentials.',
    '- A Restore loses the live value of `data.password` of Secret `shop/db`: git never keeps credentials.',
  ]
  assert.ok(body.includes(lines.join('\n')), body)
  const losses = [
    'A Restore loses the live value of data.password of Secret shop/db: git never keeps credentials.',
  ]
  assert.ok(formatMassText({ ...MASS, losses }).body.includes(lines[1] ?? ''))
})

test('the close row names a syncer that reverts without a merge', () => {
  const body = bodyOf(subjectOf([REPLICAS], { applier: { ...FLUX, revertsUnasked: 'yes' } }))
  assert.match(
    body,
    /\| \*\*close\*\* \| unchanged \| backporch changes nothing; the syncer reverts it without a merge/,
  )
})

test('a change that cannot be adopted has no box and no row, and the reason is given', () => {
  const refused = subjectOf([REPLICAS], {
    notAdoptable: new Map([[REPLICAS.fingerprint, 'a function writes the field']]),
  })
  for (const subject of [refused, PROPOSALS['one-secret'] ?? refused]) {
    assert.match(bodyOf(subject), /- Adopt is not possible: /)
    assert.doesNotMatch(bodyOf(subject), /comment `\/adopt`/)
    assert.deepEqual(
      ticksIn(subject).map(({ verb }) => verb),
      ['recheck'],
    )
  }
})

test('unchecked and rejected objects are reported before the table', () => {
  const [one, two] = ['Deployment shop/web', 'Deployment shop/api']
  const body = bodyOf(
    subjectOf([REPLICAS], {
      states: [
        { kind: 'not-checked', objects: [one, two], why: 'the cluster is a recording' },
        { kind: 'refused', objects: [one], why: 'a policy denies | it' },
      ],
    }),
  )
  assert.match(
    body,
    /\*\*Not checked by a server:\*\* 2 objects with the adopted values \(`the cluster is a recording`\)\./,
  )
  assert.match(
    body,
    /\*\*The server refuses\*\* `Deployment shop\/web` with the adopted values: `a policy denies \\\| it`/,
  )
  assert.doesNotMatch(bodyOf(subjectOf([REPLICAS])), /Not checked|server refuses/)
})

test('a change that cannot be released has no row, and the reason is given', () => {
  const body = bodyOf(
    subjectOf([REPLICAS], {
      notReleasable: new Map([[REPLICAS.fingerprint, 'the syncer holds the field']]),
    }),
  )
  assert.match(body, /- Release is not possible: the syncer holds the field\./)
  assert.doesNotMatch(body, /comment `\/release`/)
  assert.match(bodyOf(subjectOf([REPLICAS])), /comment `\/release`/)
})

test('boxes are per object with the change numbers, and are omitted for more than ten objects', () => {
  const other = changeOf({ ref: { ...REPLICAS.ref, name: 'other' }, risk: 'high' })
  assert.deepEqual(ticksIn(subjectOf([REPLICAS, { ...REPLICAS, path: 'spec.paused' }, other])), [
    { verb: 'adopt', drift: '1a2b3c4d', changes: [3] },
    { verb: 'adopt', drift: '1a2b3c4d', changes: [1, 2] },
    { verb: 'recheck', drift: '1a2b3c4d', changes: [] },
  ])
  assert.equal(ticksIn(subjectOf(manyChanges(10))).length, 11)
  assert.equal(ticksIn(subjectOf(manyChanges(11))).length, 1)
})

test('a large drift shows its 30 riskiest changes and their total, and links to the report if it exists', () => {
  const large = subjectOf(manyChanges(412), { hasReport: true })
  assert.match(bodyOf(large), /\*\*The table shows 30 of 495 changes\*\*/)
  assert.match(bodyOf(large), new RegExp(`${reportPath('prod-eu-1', 'apps--checkout')}\\)`))
  assert.doesNotMatch(bodyOf({ ...large, hasReport: false }), /report\.md/)
  assert.ok(wantsReport(large.record))
  assert.ok(!wantsReport(subjectOf([REPLICAS]).record))
})

test('on a limited forge the body still has everything needed to decide', () => {
  const body = bodyOf(subjectOf(manyChanges(412), { dialect: PLAIN, ledgerUrl: '' }))
  assert.ok(body.length <= 4_000)
  assert.doesNotMatch(body, /<details>|\]\(|\[!/)
  for (const part of [
    /\*\*merge\*\*/,
    /\*\*close\*\*/,
    /first seen/,
    /The table shows \d+ of 495/,
    /<sub>¹/,
  ])
    assert.match(body, part)
})

test('only a proposal that is not final is a draft, with the reason', () => {
  for (const state of [
    { kind: 'changing' },
    { kind: 'storm' },
    { kind: 'render-failed', why: 'x' },
  ] as const) {
    const { draft, body } = formatProposalText(subjectOf([REPLICAS], { states: [state] }))
    assert.ok(draft)
    assert.match(body, /\*\*Draft:\*\*/)
  }
  assert.ok(
    !formatProposalText(
      subjectOf([REPLICAS], { states: [{ kind: 'snoozed', until: '2026-08-28T14:31:00Z' }] }),
    ).draft,
  )
})

test('critical drift is silenced for at most a day', () => {
  assert.match(bodyOf(subjectOf([{ ...REPLICAS, risk: 'critical' }])), /silenced for 24 hours;/)
  assert.match(
    bodyOf(subjectOf([{ ...REPLICAS, risk: 'critical' }], { closeSilence: 3_600 })),
    /silenced for 1 hour;/,
  )
  assert.match(bodyOf(subjectOf([REPLICAS])), /silenced for 30 days;/)
})

test('a multi-line value shows its first different line; a long one shows where it differs', () => {
  const [git, live] = ['a\nb\nc', 'a\nx\nc']
  assert.match(
    bodyOf(subjectOf([{ ...REPLICAS, git, live }])),
    /\| `b` \(line 2\) \| `x` \(line 2\) \(/,
  )
  const long = 'registry.example/a/very/long/path/of/an/image'
  assert.match(
    bodyOf(subjectOf([{ ...REPLICAS, git: `${long}:1`, live: `${long}:2` }])),
    /\| `\.\.\.image:1"` \| `\.\.\.image:2"` \(/,
  )
})

test('no diff line starts like a bot command', () => {
  const path = 'data["a"]'
  const changed = bodyOf(
    subjectOf([{ ...REPLICAS, path, git: '/lgtm\nx\n /merge', live: '/lgtm\ny\n /merge' }]),
  )
  assert.match(changed, /\n@@ data\["a"\] @@\n- {3}x\n\+ {3}y\n/)
  assert.doesNotMatch(
    bodyOf(subjectOf([{ ...REPLICAS, path: '/approve', git: { a: 1, b: 2 }, live: 0 }])),
    /^\s*\//m,
  )
})

test('no hash of a hidden value is shown', () => {
  assert.doesNotMatch(bodyOf(PROPOSALS['one-secret'] ?? subjectOf([])), /hmac|0123456789abcdef/)
})

test('a joint proposal counts all clusters, and states that rows beyond 200 are omitted', () => {
  const [
    row = {
      cluster: '',
      slug: '',
      since: '',
      state: 'drifted',
      plan: 'Restore',
      episode: '',
    } as const,
  ] = MASS.rows
  const rows = Array.from({ length: 250 }, (_each, index) => ({ ...row, cluster: `edge-${index}` }))
  const { title, body } = formatMassText({
    ...MASS,
    rows,
    dialect: { ...MASS.dialect, bodyLimit: 250_000 },
  })
  assert.match(title, /in 250 clusters/)
  assert.match(body, /Shown are 200 of 250 clusters/)
  assert.equal(body.match(/^\| \[`edge-/gm)?.length, 200)
})

test('the comment after a close states the effect and the end of the silence', () => {
  assert.deepEqual(
    createOutcomeComment({
      kind: 'declined',
      silentUntil: '2026-09-20T14:31:00Z',
      critical: false,
    }),
    {
      topic: 'outcome',
      body: 'Closed: nothing changes in the cluster. This drift is silenced until 2026-09-20 14:31 UTC. New drift is still reported. Reopening this pull request ends the silence.\n',
    },
  )
})
