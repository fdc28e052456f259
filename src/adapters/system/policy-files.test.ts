import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, test } from 'node:test'
import { readPolicyFiles } from './policy-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'policy-files-'))
after(() => rmSync(folder, { recursive: true }))

test('reads the same file endings in a folder of the operator as in .drift of a repository', () => {
  const policies = join(folder, 'policies')
  mkdirSync(policies)
  for (const name of ['b.policy', 'a.yaml', 'c.yml', 'README.md', 'd.policy.bak'])
    writeFileSync(join(policies, name), name)
  assert.deepEqual(
    readPolicyFiles(policies).map(({ path, text }) => [basename(path), text]),
    [
      ['a.yaml', 'a.yaml'],
      ['b.policy', 'b.policy'],
      ['c.yml', 'c.yml'],
    ],
  )
})

test('a folder without policies is an error, because nothing would restrict a repository', () => {
  const empty = mkdtempSync(join(folder, 'empty-'))
  assert.throws(() => readPolicyFiles(empty), {
    code: 'BP1001',
    why: 'no file of the folder ends with .policy, .yaml or .yml',
  })
})
