import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { programPath } from '../programs/build-programs.ts'
import { type FakeMachine, fakeMachine, writeScript } from '../programs/fake-go.ts'
import { findGitea } from './find-gitea.ts'

let machine: FakeMachine
beforeEach(async () => {
  machine = await fakeMachine()
})
afterEach(() => machine.remove())

test('reports that git is missing, which Gitea runs', async () => {
  await writeScript(await programPath('gitea', machine.environment), '')
  const found = await findGitea({ environment: machine.environment })
  assert.deepEqual(found, {
    state: 'unavailable',
    why: 'cannot run Gitea here: there is no git on the PATH, which Gitea runs.',
  })
})

test('finds a build together with its static files', async () => {
  const binary = await programPath('gitea', machine.environment)
  await writeScript(binary, '')
  await machine.install('git')
  const found = await findGitea({ environment: machine.environment })
  assert.deepEqual(found, { state: 'ready', binary, staticRoot: join(dirname(binary), 'static') })
})
