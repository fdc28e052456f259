import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { REWRITES } from '../../../../test/golden/yaml-rewrites.ts'
import { runKpt, whyNoKpt, withFolder } from '../../../../test/kpt/find-kpt.ts'
import { randomCommentedObject } from '../../../../test/property/random-commented-yaml.ts'
import { numbersOf } from '../../../../test/seeds/seeds.ts'
import { readYamlNodes } from '../read/read-yaml-node.ts'
import { detectSequenceIndent } from '../yaml-sequence-indent.ts'
import { writeYamlDocuments } from './write-yaml-node.ts'

const RANDOM_FILES = 100

it('kpt fn render without functions writes every file identically', { skip: whyNoKpt() }, () => {
  const files: { [path: string]: string } = {
    Kptfile: 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: made-up\n',
  }
  const expected = new Map<string, string>()
  for (const [number, { text, written }] of REWRITES.entries()) {
    files[`row-${number}.yaml`] = text
    expected.set(`row-${number}.yaml`, written)
  }
  for (const seed of numbersOf(import.meta.filename, RANDOM_FILES)) {
    const documents = [
      randomCommentedObject(seed, 'one'),
      randomCommentedObject(seed + RANDOM_FILES, 'two'),
    ]
    const path = `random-${seed}.yaml`
    const text = documents.join('---\n')
    files[path] = text
    const nodes = readYamlNodes(text, path)
    expected.set(
      path,
      writeYamlDocuments(
        nodes.map((node, at) => ({
          node,
          sequenceIndent: detectSequenceIndent(documents[at] ?? ''),
        })),
      ),
    )
  }
  withFolder(files, (folder) => {
    const { ok, stderr } = runKpt(folder, 'fn', 'render', '.')
    assert.ok(ok, stderr)
    for (const [path, written] of expected)
      assert.equal(readFileSync(join(folder, path), 'utf8'), written, path)
  })
})
