/** The step preview of the GitHub Action: what merging the pull request of the event changes. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { previewSchema } from '../../src/record/documents/preview.ts'
import {
  bundled,
  environment,
  folder,
  inProcess,
  level,
  prepareSteps,
  repositoryLike,
  step,
  type Texts,
} from './action-step.ts'
import { commitFiles, git } from './stage.ts'

prepareSteps()

describe('the step preview', () => {
  let events = 0

  /** The event of a pull request into `main`. */
  function event(sha: string, from = 'acme/deploy'): Texts {
    events += 1
    const path = join(folder, `preview-event-${events}.json`)
    const side = (ref: string, repo: string, commit: string) => ({
      ref,
      sha: commit,
      repo: { full_name: repo },
    })
    const pull = {
      number: 7,
      head: side('change', from, sha),
      base: side('main', 'acme/deploy', '0'.repeat(40)),
    }
    writeFileSync(path, JSON.stringify({ pull_request: pull }))
    return { GITHUB_EVENT_PATH: path }
  }

  function changed(files: Readonly<Record<string, string>>): {
    readonly repository: string
    readonly sha: string
  } {
    const repository = repositoryLike()
    return { repository, sha: commitFiles(repository, environment, 'change', files) }
  }

  function edited(from: RegExp, to: string): Readonly<Record<string, string>> {
    const path = 'apps/web/deployment.yaml'
    const text = git(repositoryLike(), environment, 'show', `main:${path}`)
    assert.match(text, from)
    return { [path]: `${text.replace(from, to)}\n` }
  }

  const INPUTS = { command: 'preview', comment: 'false' }

  it('writes the summary and the outputs, with the bundled file', async () => {
    const { repository, sha } = changed(edited(/replicas: \d+/, 'replicas: 11'))
    const run = await step(repository, INPUTS, event(sha), bundled)
    assert.equal(run.code, 0, run.stdout)
    assert.match(run.summary, /\*\*Merging changes 1 object in 1 cluster\*\*: `apps\/web`/)
    assert.match(run.summary, /\| `Deployment [^`]+` `spec\.replicas` \| `\d+` \| `11` \|/)
    assert.equal(run.outputs['risk'], 'medium')
    const report = previewSchema.parse(
      JSON.parse(readFileSync(run.outputs['report-json'] ?? '', 'utf8')),
    )
    assert.deepEqual(
      report.items.map((unit) => [unit.package, unit.cluster, unit.state]),
      [['apps/web', 'prod', 'changes']],
    )
    assert.deepEqual(level('error', run), [])
  })

  it('learns from the event that the head is from a fork', async () => {
    const { repository, sha } = changed(edited(/replicas: \d+/, 'replicas: 11'))
    const run = await step(repository, INPUTS, event(sha, 'eve/deploy'), inProcess)
    assert.equal(run.code, 0, run.stdout)
    assert.match(run.summary, /\*\*From a fork:\*\*/)
    assert.match(run.summary, /\| 1 unknown \|/)
  })

  it('fails with the reason when the head cannot be built', async () => {
    const { repository, sha } = changed({ 'apps/web/deployment.yaml': 'a: [\n' })
    const run = await step(repository, INPUTS, event(sha), inProcess)
    assert.equal(run.code, 2)
    assert.match(level('error', run)[0] ?? '', /BP1110/)
    assert.match(
      run.summary,
      /`apps\/web` in `prod`, after the merge \(`BP1110`\) at `apps\/web\/deployment\.yaml/,
    )
  })

  it('fails when the comment cannot be written, and without a pull request', async () => {
    const { repository, sha } = changed(edited(/replicas: \d+/, 'replicas: 11'))
    const commented = await step(repository, { command: 'preview' }, event(sha), inProcess)
    assert.equal(commented.code, 2)
    assert.match(level('error', commented)[0] ?? '', /BP1001: there is no forge with pull requests/)
    const none = await step(repository, INPUTS, {}, inProcess)
    assert.match(level('error', none)[0] ?? '', /BP1001: the command preview needs a pull request/)
  })
})
