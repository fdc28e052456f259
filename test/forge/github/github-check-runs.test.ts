/** Checks of proposals on the emulated GitHub: made once for each commit, by an App alone. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { CheckRun, ForgeCheckRuns } from '@backporch/forge/check-run'
import type { GitHubCredential } from '@backporch/forge/github'
import type { ObjectId } from '@backporch/kyaml/files'
import { expectFailure } from '../../contract/git-remotes.ts'
import type { EmulatedCheckRun } from './emulated-state.ts'
import { createGitHubFixture, type GitHubFixture } from './github-fixture.ts'
import { pushProposal, SIGNAL } from './pushed-proposal.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const CREDENTIAL: GitHubCredential = { kind: 'app', appId: 4242, privateKey }
const CREATE = 'POST /repos/{owner}/{repo}/check-runs'
const UPDATE = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}'
const RUN: CheckRun = {
  key: '0123456789abcdef',
  state: 'undecided',
  title: '3 changes',
  summary: 'text\n',
  url: 'https://github.example/ledger',
  annotations: annotations(3),
  buttons: [{ id: 'recheck', label: 'Re-check', description: 'looks again' }],
}

function annotations(count: number): CheckRun['annotations'] {
  return Array.from({ length: count }, (_, index) => ({
    path: 'apps/web/deployment.yaml',
    line: index + 1,
    level: 'warning' as const,
    title: `change ${index + 1}`,
    message: 'git says 3, and the cluster has 5',
  }))
}

describe('check runs', () => {
  let fixture: GitHubFixture
  let checks: ForgeCheckRuns
  let commit: ObjectId

  beforeEach(async () => {
    fixture = await createGitHubFixture()
    fixture.emulator.app = { id: 4242, publicKey, slug: 'backporch', installed: true }
    fixture.emulator.granted = { checks: 'write' }
    commit = (await pushProposal(fixture)).commit
    checks = await open()
  })
  afterEach(async () => {
    const problems = [...new Set(fixture.emulator.problems)]
    await fixture.close()
    assert.deepEqual(problems, [])
  })

  async function open(): Promise<ForgeCheckRuns> {
    const { checkRuns } = await fixture.forge({ credential: CREDENTIAL })
    assert.ok(checkRuns !== undefined)
    return checkRuns
  }

  const runs = (): readonly EmulatedCheckRun[] => fixture.emulator.state.checkRuns
  const lines = (): unknown[] =>
    (runs()[0]?.output.annotations ?? []).map((one) => (one as { start_line: number }).start_line)
  const writes = (): string[] =>
    fixture.emulator.writes.map(
      ({ method, path }) => `${method} ${path.replace(/^.*\/check-runs/, '')}`,
    )

  it('creates one check run with all its parts, and writes nothing when nothing changed', async () => {
    await checks.ensureCheckRun(commit, RUN, SIGNAL)
    await checks.ensureCheckRun(commit, RUN, SIGNAL)
    await (await open()).ensureCheckRun(commit, RUN, SIGNAL)
    const [{ name, head_sha, status, conclusion, output, details_url, actions } = assert.fail()] =
      runs()
    assert.deepEqual(
      [name, head_sha, status, conclusion],
      ['backporch', commit, 'completed', 'neutral'],
    )
    assert.deepEqual([output.title, output.summary, details_url], [RUN.title, RUN.summary, RUN.url])
    assert.deepEqual(output.annotations[0], {
      path: 'apps/web/deployment.yaml',
      start_line: 1,
      end_line: 1,
      annotation_level: 'warning',
      title: 'change 1',
      message: 'git says 3, and the cluster has 5',
    })
    assert.deepEqual(actions, [
      { identifier: 'recheck', label: 'Re-check', description: 'looks again' },
    ])
    assert.deepEqual(writes(), ['POST '])
  })

  for (const change of [
    { state: 'unsure' },
    { title: 'other' },
    { summary: 'other' },
    { url: '' },
    { buttons: [] },
  ] as const satisfies readonly Partial<CheckRun>[]) {
    it(`edits a check run in place when its ${Object.keys(change).join()} changes`, async () => {
      await checks.ensureCheckRun(commit, RUN, SIGNAL)
      for (let time = 0; time < 2; time += 1)
        await checks.ensureCheckRun(commit, { ...RUN, ...change }, SIGNAL)
      assert.deepEqual(writes(), ['POST ', `PATCH /${runs()[0]?.id}`])
      assert.deepEqual(lines(), [1, 2, 3], 'nothing is annotated twice')
    })
  }

  it('maps each state to a conclusion, with failure only for what failed', async () => {
    for (const [state, conclusion] of [
      ['unsure', 'neutral'],
      ['merged', 'success'],
      ['failed', 'failure'],
      ['closed', 'neutral'],
      ['undecided', 'neutral'],
    ] as const) {
      await checks.ensureCheckRun(commit, { ...RUN, state }, SIGNAL)
      assert.equal(runs()[0]?.conclusion, conclusion)
    }
    assert.equal(runs().length, 1)
  })

  it('sends at most 50 annotations per request', async () => {
    await checks.ensureCheckRun(commit, { ...RUN, annotations: annotations(120) }, SIGNAL)
    const sent = fixture.emulator.writes.map(
      ({ body }) => JSON.parse(body).output.annotations.length,
    )
    assert.deepEqual(sent, [50, 50, 20])
    assert.deepEqual(
      lines(),
      annotations(120).map(({ line }) => line),
    )
    await checks.ensureCheckRun(commit, { ...RUN, annotations: annotations(120) }, SIGNAL)
    assert.equal(writes().length, 3)
  })

  for (const skip of [0, 1, 2]) {
    for (const moment of ['before', 'after'] as const) {
      it(`resumes where it stopped when request ${skip + 1} is lost ${moment} it is done`, async () => {
        const wanted = { ...RUN, annotations: annotations(120) }
        const on = skip === 0 ? CREATE : UPDATE
        fixture.emulator.faults.push({ on, skip: Math.max(0, skip - 1), moment })
        await expectFailure(checks.ensureCheckRun(commit, wanted, SIGNAL), 'BP5001')
        await (await open()).ensureCheckRun(commit, wanted, SIGNAL)
        assert.equal(runs().length, 1)
        assert.deepEqual(
          lines(),
          annotations(120).map(({ line }) => line),
        )
        const sent = writes().length
        await checks.ensureCheckRun(commit, wanted, SIGNAL)
        assert.equal(writes().length, sent)
      })
    }
  }

  it('keeps earlier annotations of the commit, since GitHub cannot remove them', async () => {
    await checks.ensureCheckRun(commit, { ...RUN, annotations: [] }, SIGNAL)
    await checks.ensureCheckRun(commit, { ...RUN, annotations: annotations(2) }, SIGNAL)
    assert.deepEqual(lines(), [1, 2], 'there were none')
    await checks.ensureCheckRun(commit, { ...RUN, state: 'unsure', annotations: [] }, SIGNAL)
    await checks.ensureCheckRun(commit, { ...RUN, annotations: annotations(2) }, SIGNAL)
    assert.deepEqual(lines(), [1, 2])
    await checks.ensureCheckRun(commit, { ...RUN, annotations: annotations(9) }, SIGNAL)
    assert.deepEqual(lines(), [1, 2])
    const sent = writes().length
    await checks.ensureCheckRun(commit, { ...RUN, annotations: annotations(9) }, SIGNAL)
    assert.equal(writes().length, sent)
  })

  it('leaves check runs of other Apps alone, even with the same name', async () => {
    const other = {
      app: 99,
      name: 'backporch',
      head_sha: commit,
      external_id: `${RUN.key}.a.b`,
      status: 'completed',
    }
    const nothing = {
      conclusion: null,
      details_url: null,
      output: { title: '', summary: '', annotations: [] },
      actions: [],
    }
    fixture.emulator.state.checkRuns.push({ id: 1, ...other, ...nothing })
    await checks.ensureCheckRun(commit, RUN, SIGNAL)
    assert.deepEqual(writes(), ['POST '])
  })

  it('offers no check runs with a plain token', async () => {
    const forge = await fixture.forge()
    assert.equal(forge.checkRuns, undefined)
  })

  for (const [granted, created] of [
    [undefined, 0],
    [{ checks: 'read', contents: 'write' }, 0],
    [{ contents: 'write' }, 0],
  ] as const) {
    it(`creates ${created} check runs when the App has ${JSON.stringify(granted)}`, async () => {
      fixture.emulator.granted = granted
      await (await open()).ensureCheckRun(commit, RUN, SIGNAL)
      assert.equal(runs().length, created)
      if (created === 0)
        assert.deepEqual(
          fixture.emulator.requests.filter(({ path }) => path.includes('check-runs')),
          [],
        )
    })
  }
})
