import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { goBuild } from './go-build.ts'

const ENVIRONMENT = { XDG_CACHE_HOME: '/cache' }
let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'backporch-key-'))
})
after(() => rm(directory, { recursive: true }))

async function keyOf(module: string, goArguments: readonly string[] = ['build']): Promise<string> {
  const { binary } = await goBuild(
    'x',
    join(directory, module),
    ENVIRONMENT,
    false,
    () => goArguments,
  )
  assert.match(binary, /^\/cache\/backporch\/x\/[0-9a-f]{32}\/x$/)
  return dirname(binary)
}

test('reuses a build of the same sources in another folder, but not of other sources or arguments', async () => {
  const module = await mkdtemp(join(directory, 'module-'))
  const name = module.slice(directory.length + 1)
  await writeFile(join(module, 'go.mod'), 'module example.invalid/x\n')
  const first = await keyOf(name)
  assert.notEqual(await keyOf(name, ['build', '-trimpath']), first)
  await writeFile(join(module, 'read-me.md'), 'no source')
  await rename(module, join(directory, 'moved'))
  assert.equal(await keyOf('moved'), first)
  for (const file of ['main.go', 'go.sum']) {
    const before = await keyOf('moved')
    await writeFile(join(directory, 'moved', file), 'package main')
    assert.notEqual(await keyOf('moved'), before, file)
  }
})
