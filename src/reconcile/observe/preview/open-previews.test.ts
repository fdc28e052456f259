import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ForgePullRequest } from '@backporch/forge/hosted-forge'
import { Failure } from '@backporch/kyaml/failure'
import { MemoryForge } from '../../../../test/fakes/memory-forge.ts'
import { MemoryRepository } from '../../../../test/fakes/memory-repository.ts'
import { HANGS_AFTER, neverAnswer } from '../../../../test/waiting/wait-until.ts'
import type { Preview } from '../../../record/documents/preview.ts'
import { OpenPreviews } from './open-previews.ts'

const { signal } = new AbortController()

class World {
  readonly repository = new MemoryRepository()
  readonly forge = new MemoryForge(this.repository)
  readonly built: string[] = []
  previews = new OpenPreviews()
  failure: Failure | undefined
  hangs = false

  constructor() {
    this.repository.commitByHand('main', { a: 'a' })
  }

  open(number: number, more: Partial<ForgePullRequest> = {}): void {
    const commit = this.repository.commitByHand(`b${number}`, { b: String(number) })
    const of = {
      label: `#${number}`,
      url: '',
      baseBranch: 'main',
      branch: `b${number}`,
      fork: false,
      open: true,
    }
    this.forge.pullRequests.push({ number, commit, ...of, ...more })
  }

  push(number: number): void {
    const at = this.forge.pullRequests.findIndex((pull) => pull.number === number)
    const commit = this.repository.commitByHand(`b${number}`, {
      b: `${number} again ${this.built.length}`,
    })
    this.forge.pullRequests[at] = { ...(this.forge.pullRequests[at] as ForgePullRequest), commit }
  }

  pass() {
    const { repository, forge } = this
    const preview = async (pull: ForgePullRequest, limit: AbortSignal): Promise<Preview> => {
      this.built.push(pull.label)
      if (this.failure !== undefined) throw this.failure
      if (this.hangs) await neverAnswer(limit)
      return previewOf(pull, repository.head('main'))
    }
    return this.previews.pass(
      {
        repository,
        forge,
        branch: undefined,
        version: '0',
        preview,
        longest: this.hangs ? 20 : HANGS_AFTER,
      },
      signal,
    )
  }
}

function previewOf({ commit, fork }: ForgePullRequest, base: string): Preview {
  const same = {
    state: 'same',
    presence: 'both',
    edited: ['b'],
    shared: [],
    changes: [],
    failures: [],
  } as const
  return {
    ...{
      apiVersion: 'backporch.dev/v1alpha1',
      kind: 'Preview',
      merge: { conflicts: [] },
      edited: ['b'],
      policies: false,
    },
    ...{
      base: { branch: 'main', commit: base },
      head: { name: 'b', commit, fork },
      clusters: [],
      untouched: 0,
      elsewhere: [],
      notes: [],
    },
    items: [
      {
        package: 'a',
        cluster: 'prod',
        ...same,
        edited: ['b'],
        shared: [],
        changes: [],
        failures: [],
      },
    ],
  }
}

test('each head is previewed once, and again when it or the base branch moves', async () => {
  const world = new World()
  world.open(1)
  world.open(2)
  await world.pass()
  await world.pass()
  assert.deepEqual(world.built, ['#1', '#2'])
  world.push(2)
  await world.pass()
  assert.deepEqual(world.built.slice(2), ['#2'])
  world.repository.commitByHand('main', { a: 'b' })
  await world.pass()
  assert.deepEqual(world.built.slice(3), ['#1', '#2'])
  assert.equal(world.forge.comments.length, 2)
})

test('a restart does not repeat a preview whose comment names the same commits', async () => {
  const world = new World()
  world.open(1)
  await world.pass()
  world.previews = new OpenPreviews()
  await world.pass()
  assert.deepEqual(world.built, ['#1'])
})

test('a pass previews a few heads, and the rest wait for the next pass', async () => {
  const world = new World()
  for (let number = 1; number <= 7; number += 1) world.open(number)
  assert.deepEqual([(await world.pass()).more, world.built.length], [true, 3])
  assert.deepEqual([(await world.pass()).more, world.built.length], [true, 6])
  assert.deepEqual([(await world.pass()).more, world.built.length], [false, 7])
  assert.deepEqual([(await world.pass()).more, world.built.length], [false, 7])
})

test('skips proposals of backporch and other base branches, but not a fork with such a branch name', async () => {
  const world = new World()
  world.open(1, { branch: 'proposed/apps/web/drift-01234567' })
  world.open(2, { branch: 'proposed/apps/web/drift-01234567', fork: true })
  world.open(3, { baseBranch: 'other' })
  world.open(4, { open: false })
  await world.pass()
  assert.deepEqual(world.built, ['#2'])
})

test('a failure affects only its pull request, and is retried only if it is transient', async () => {
  for (const [retry, times] of [
    ['backoff', 2],
    ['on-change', 1],
  ] as const) {
    const world = new World()
    world.open(1)
    world.failure = new Failure({
      code: 'BP4001',
      what: 'cannot read',
      why: 'no answer',
      remedy: 'wait',
      retry,
    })
    const { failed } = await world.pass()
    assert.deepEqual(
      failed.map(({ pull, failure }) => [pull?.number, failure.code]),
      [[1, 'BP4001']],
    )
    await world.pass()
    assert.equal(world.built.length, times, retry)
  }
  const world = new World()
  world.forge.readPullRequests = () =>
    Promise.reject(new Failure({ code: 'BP5001', what: 'x', why: 'y', remedy: 'z' }))
  assert.deepEqual(
    (await world.pass()).failed.map(({ pull, failure }) => [pull, failure.code]),
    [[undefined, 'BP5001']],
  )
})

test('a preview over its deadline is abandoned until the head moves', async () => {
  const world = new World()
  world.open(1)
  world.hangs = true
  assert.deepEqual(
    (await world.pass()).failed.map(({ failure }) => failure.code),
    ['BP3006'],
  )
  await world.pass()
  assert.equal(world.built.length, 1)
  world.hangs = false
  world.push(1)
  assert.deepEqual(
    (await world.pass()).done.map(({ outcome }) => outcome),
    ['written'],
  )
})
