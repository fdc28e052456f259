import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { readConfigFile } from './config-file.ts'

test('reads a file relative to the working directory; rejects a folder, a large and a missing file', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'backporch-config-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'c.yaml'), 'a: b\n')
  await writeFile(join(folder, 'large.yaml'), ' '.repeat(1_048_577))
  assert.equal(await readConfigFile('c.yaml', folder), 'a: b\n')
  for (const [path, why] of [
    ['.', /not a file/],
    ['large.yaml', /more than 1 MiB/],
    ['none.yaml', /ENOENT/],
  ] as const)
    await assert.rejects(
      readConfigFile(path, folder),
      (thrown) => thrown instanceof Failure && thrown.code === 'BP1001' && why.test(thrown.why),
    )
})
