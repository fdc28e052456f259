/** The step verify-pr of the GitHub Action: the records of a pull request against the cluster. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import {
  bundled,
  environment,
  folder,
  inProcess,
  level,
  PROPOSING,
  prepareSteps,
  repositoryLike,
  step,
  type Texts,
} from './action-step.ts'
import { commitFiles, git, makePackages, writeRecording } from './stage.ts'

prepareSteps()

describe('the step verify-pr', () => {
  const proposed = join(folder, 'proposed')
  let branch = ''
  let record = ''
  let events = 0

  before(async () => {
    makePackages(proposed, environment, { '.drift/policy.yaml': PROPOSING })
    const scan = await step(proposed, { 'fail-on': 'none', packages: 'apps/web' })
    branch = /proposed\/apps\/web\/drift-\w+/.exec(scan.outputs['prs'] ?? '')?.[0] ?? ''
    record = git(proposed, environment, 'ls-tree', '-r', '--name-only', branch, '.drift/records')
  })

  /** The event of a pull request into `main`. */
  function event(ref: string, from = 'acme/deploy'): string {
    events += 1
    const path = join(folder, `event-${events}.json`)
    const side = (name: string, repo: string) => ({
      ref: name,
      sha: '0'.repeat(40),
      repo: { full_name: repo },
    })
    writeFileSync(
      path,
      JSON.stringify({
        pull_request: { head: side(ref, from), base: side('main', 'acme/deploy') },
      }),
    )
    return path
  }

  const verify = (
    path: string,
    inputs: Texts = {},
    env: Texts = {},
    repository = proposed,
    start = inProcess,
  ) =>
    step(
      repository,
      { command: 'verify-pr', ...inputs },
      { GITHUB_EVENT_PATH: path, ...env },
      start,
    )

  it('passes a proposal whose drift still exists', async () => {
    const run = await verify(event(branch), {}, {}, proposed, bundled)
    assert.equal(run.code, 0, run.stdout)
    assert.match(run.stdout, /1 changed record: all are valid/)
  })

  it('fails when the cluster changed since', async () => {
    const recorded = join(folder, 'changed')
    writeRecording(recorded, (text) => text.replaceAll('"replicas":5', '"replicas":6'))
    const run = await verify(event(branch), { live: recorded })
    assert.equal(run.code, 1, run.stdout)
    assert.match(
      level('error', run)[0] ?? '',
      /file=\.drift\/records\/prod\/.*changes now, with another fingerprint/,
    )
  })

  it('fails for a record that is not inert, invalid, misplaced or removed', async () => {
    const repository = repositoryLike(proposed)
    const path = event(branch)
    const text = git(repository, environment, 'show', `${branch}:${record}`)
    const smuggled = `${text}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: smuggled}\n`
    const cases: readonly [Readonly<Record<string, string | null>>, RegExp][] = [
      [{ [record]: text.split('\n').slice(1).join('\n') }, /its first line is not/],
      [
        {
          [record]: text
            .replace("local-config: 'true'", "local-config: 'false'")
            .replace('local-config: "true"', 'local-config: "false"'),
        },
        /it is not a DriftRecord \(BP1112\)/,
      ],
      [{ [record]: `${text.split('\n')[0]}\nkind: [\n` }, /it is not a DriftRecord \(BP1110\)/],
      [{ [record]: smuggled }, /it has more than one document/],
      [
        { [record.replace('/prod/', '/other/')]: text, [record]: text },
        /its path is not that of episode/,
      ],
      [
        {
          [record.replace('/prod/', '/other/')]: null,
          [record.replace(/\w+\.record$/, '00000000.record')]: text,
        },
        /not that of episode/,
      ],
    ]
    for (const [files, message] of cases) {
      commitFiles(repository, environment, branch, files)
      const run = await verify(path, {}, {}, repository)
      assert.equal(run.code, 1, run.stdout)
      assert.match(level('error', run).join('\n'), message)
    }
    commitFiles(repository, environment, 'main', { [record]: text })
    commitFiles(repository, environment, 'other', { notes: 'no record' })
    assert.match(
      (await verify(event('other'), {}, {}, repository)).stdout,
      /0 changed records: all are valid/,
      'what is on the base was decided',
    )
    commitFiles(repository, environment, 'feature', { [record]: null })
    assert.match(
      (await verify(event('feature'), {}, {}, repository)).stdout,
      /a record was removed/,
    )
  })

  it("passes the rename of an earlier version's record, and fails if its content changes", async () => {
    const repository = repositoryLike(proposed)
    const text = git(repository, environment, 'show', `${branch}:${record}`)
    const earlier = record.replace(/\.record$/, '.yaml')
    commitFiles(repository, environment, 'main', {
      [earlier]: text.replace(/\n---\nbackporch: no manifest\n?$/, '\n'),
    })
    commitFiles(repository, environment, 'moved', { [earlier]: null, [record]: text })
    assert.match(
      (await verify(event('moved'), {}, {}, repository)).stdout,
      /0 changed records: all are valid/,
    )
    commitFiles(repository, environment, 'changed', {
      [earlier]: null,
      [record]: text.replace('replicas', 'paused'),
    })
    assert.match(
      (await verify(event('changed'), {}, {}, repository)).stdout,
      /a record was removed/,
    )
  })

  it('does not pass what it could not observe, unless partial is ok', async () => {
    const path = event(branch)
    const elsewhere = await verify(path, { clusters: 'another' })
    assert.equal(elsewhere.code, 3, elsewhere.stdout)
    assert.match(level('warning', elsewhere)[0] ?? '', /the input clusters does not name prod/)
    assert.equal((await verify(path, { clusters: 'another', partial: 'ok' })).code, 0)
    const otherKey = await verify(path, {}, { BACKPORCH_KEY: 'other'.repeat(8) })
    assert.equal(otherKey.code, 3)
    assert.match(otherKey.stdout, /made with another BACKPORCH_KEY/)
  })

  it('refuses forks, other events and deleted branches', async () => {
    assert.match(
      level('error', await verify(event(branch, 'mallory/deploy')))[0] ?? '',
      /comes from a fork/,
    )
    assert.match((await verify(event('gone'))).stdout, /BP1003: there is no branch "gone"/)
    const path = event(branch)
    writeFileSync(path, '{"ref":"refs/heads/main"}')
    const run = await verify(path)
    assert.equal(run.code, 2)
    assert.match(run.stdout, /BP1001: the command verify-pr needs a pull request/)
    assert.equal((await verify(join(folder, 'no-event'))).code, 2)
  })
})
