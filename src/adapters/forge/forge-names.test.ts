import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { FORGE_KINDS } from '../../ports/forge-setup.ts'
import { ALL_FORGES, FORGES } from './forges.ts'

const SRC = fileURLToPath(new URL('../..', import.meta.url))
/** Kinds of forges that are words for something else too. */
const OTHER_WORDS = new Map([
  ['cli/flags/outputs.ts', 'github'],
  ['cli/print/print-document.ts', 'github'],
  ['adapters/git/protocol/remote-address.ts', 'local'],
  ['adapters/git/protocol/process-transport.ts', 'local'],
  ['adapters/git/repository.ts', 'local'],
  ['adapters/git/repository-programs.ts', 'local'],
])

test('no file but the list of kinds and the folder of a forge has the name of the forge as a value or as a type', () => {
  const found: string[] = []
  for (const entry of readdirSync(SRC, { recursive: true, withFileTypes: true })) {
    const file = relative(SRC, join(entry.parentPath, entry.name))
    if (!file.endsWith('.ts') || file.endsWith('.test.ts') || file === 'ports/forge-setup.ts') continue
    const kind = /^adapters\/forge\/(\w+)\//.exec(file)?.[1]
    const foreign = ALL_FORGES.filter((forge) => forge.kind !== kind)
    const names = new Set(foreign.flatMap((forge) => [forge.kind, ...(forge.name === 'git' ? [] : [forge.name])]))
    const text = readFileSync(join(SRC, file), 'utf8')
    if (![...names].some((name) => text.includes(name))) continue
    for (const word of literalsOf(text)) if (names.has(word) && OTHER_WORDS.get(file) !== word) found.push(`${file}: ${word}`)
  }
  assert.deepEqual(found, [])
})

test('a forge has one line in the registry, under its own kind', () => {
  assert.deepEqual(Object.keys(FORGES).sort(), [...FORGE_KINDS].sort())
  for (const kind of FORGE_KINDS) assert.equal(FORGES[kind].kind, kind)
})

function literalsOf(text: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && !ts.isImportDeclaration(node.parent)) found.push(node.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('', text, ts.ScriptTarget.Latest, true))
  return found
}
