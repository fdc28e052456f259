import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import * as nodeFiles from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createAtomicFs, type FileOperations, writeWhole } from './atomic-fs.ts'

const withFolder = (name: string, body: (folder: string) => Promise<void>) =>
  test(name, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'backporch-fs-'))
    try {
      await body(folder)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

withFolder('a file appears under its name only when it is whole', async (folder) => {
  const path = join(folder, 'a')
  const observed: string[][] = []
  const files: FileOperations = {
    ...nodeFiles,
    rename: async (from, to) => {
      observed.push(readdirSync(folder))
      assert.equal(readFileSync(String(from), 'utf8'), 'content')
      await nodeFiles.rename(from, to)
    },
  }
  await writeWhole(files, path, 'content')
  assert.equal(observed.flat().includes('a'), false)
  assert.deepEqual(readdirSync(folder), ['a'])
  await Promise.all(['1', '2', '3'].map((text) => writeWhole(nodeFiles, path, text)))
  assert.match(readFileSync(path, 'utf8'), /^[123]$/)
  assert.deepEqual(readdirSync(folder), ['a'])
})

withFolder('a write that fails leaves the old file and nothing else', async (folder) => {
  const path = join(folder, 'a')
  await writeWhole(nodeFiles, path, 'old')
  const files: FileOperations = { ...nodeFiles, rename: async () => assert.fail('no rename') }
  await assert.rejects(writeWhole(files, path, 'new'), /no rename/)
  assert.deepEqual(readdirSync(folder), ['a'])
  assert.equal(readFileSync(path, 'utf8'), 'old')
})

withFolder(
  'isomorphic-git writes through it, and is told at once that there are no loose objects',
  async (folder) => {
    const { promises } = createAtomicFs(nodeFiles)
    await promises.writeFile(join(folder, 'a'), Buffer.from('x'))
    assert.equal(String(await promises.readFile(join(folder, 'a'))), 'x')
    await assert.rejects(promises.readFile(`${folder}/objects/12/${'3'.repeat(38)}`), {
      code: 'ENOENT',
    })
  },
)
