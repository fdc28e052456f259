import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { FORGE_KINDS } from '../ports/forge-setup.ts'
import { ALL_FORGES, FORGES } from './forges.ts'

const SRC = fileURLToPath(new URL('../..', import.meta.url))
/** Kinds of forges that are words for something else too. */
const OTHER_WORDS = new Map([
  ['cli/flags/outputs.ts', 'github'],
  ['cli/report/print-document.ts', 'github'],
  ['git-store/repository/checked-out.ts', 'local'],
  ['git-store/protocol/remote-address.ts', 'local'],
  ['git-store/protocol/process-transport.ts', 'local'],
  ['git-store/repository/repository.ts', 'local'],
  ['git-store/program/repository-programs.ts', 'local'],
])

const ANY_NAME = /github|gitea|forgejo/i
/** Words with a name of a forge that belong to something else: variables of GitHub Actions and of tokens, addresses, a folder of a repository. */
const WITH_A_NAME =
  /\bGIT(?:HUB|EA)_[A-Z_]+|\bhttps:\/\/(?:[\w-]+\.)*github\.com\/|\.(?:github|gitea|forgejo)\/|\bgithub_pat_/g
/** What is left: texts for people, an output format, rules of kustomize and of Flux, and a header that several forges send. */
const TEXTS_WITH_A_NAME = new Map([
  ['forge/webhook/webhook-intake.ts', 'the event is missing (X-GitHub-Event)'],
  ['cli/action/run-action.ts', '. Give the token of a GitHub App, or '],
  ['cli/flags/command-flags.ts', 'the id of its App on GitHub, its login on Gitea'],
  ['cli/flags/outputs.ts', 'github'],
  ['cli/report/print-document.ts', 'github'],
  ['sources/flux/flux-kustomization.ts', 'github\\.com[:/]'],
  ['sources/kustomize/files/kustomization-walk.ts', '^(?:git@)?github\\.com[:/]'],
])

test('only the list of kinds and the folder of a forge contain the name of the forge', () => {
  const found: string[] = []
  for (const { file, text, kind } of sources()) {
    const foreign = ALL_FORGES.filter((forge) => forge.kind !== kind)
    const names = new Set(
      foreign.flatMap((forge) => [forge.kind, ...(forge.name === 'git' ? [] : [forge.name])]),
    )
    if (![...names].some((name) => text.includes(name))) continue
    for (const word of literalsOf(text))
      if (names.has(word) && OTHER_WORDS.get(file) !== word) found.push(`${file}: ${word}`)
  }
  assert.deepEqual(found, [])
})

test('no text or pattern outside the folder of a forge contains its addresses or messages', () => {
  const found: string[] = []
  for (const { file, text, kind } of sources()) {
    if (kind !== undefined || !ANY_NAME.test(text)) continue
    for (const word of literalsOf(text)) {
      const rest = word.replaceAll(WITH_A_NAME, '').replace(TEXTS_WITH_A_NAME.get(file) ?? '', '')
      if (ANY_NAME.test(rest)) found.push(`${file}: ${word}`)
    }
  }
  assert.deepEqual(found, [])
})

test('each forge has one entry in the registry, under its own kind', () => {
  assert.deepEqual(Object.keys(FORGES).sort(), [...FORGE_KINDS].sort())
  for (const kind of FORGE_KINDS) assert.equal(FORGES[kind].kind, kind)
})

/** Without tests and the list of kinds. `kind` of those in the folder of a forge. */
function* sources(): Generator<{
  readonly file: string
  readonly text: string
  readonly kind: string | undefined
}> {
  for (const entry of readdirSync(SRC, { recursive: true, withFileTypes: true })) {
    const file = relative(SRC, join(entry.parentPath, entry.name))
    if (!file.endsWith('.ts') || file.endsWith('.test.ts') || file === 'forge/ports/forge-setup.ts')
      continue
    const kind = FORGE_KINDS.find((word) => file.startsWith(`forge/${word}/`))
    yield { file, text: readFileSync(join(SRC, file), 'utf8'), kind }
  }
}

/** Strings, the parts of templates, and patterns. */
function literalsOf(text: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    const isImported =
      ts.isImportDeclaration(node.parent) ||
      ts.isExportDeclaration(node.parent) ||
      (ts.isCallExpression(node.parent) &&
        node.parent.expression.kind === ts.SyntaxKind.ImportKeyword)
    if (isLiteral(node) && !isImported) found.push(node.text)
    ts.forEachChild(node, visit)
  }
  ts.forEachChild(ts.createSourceFile('', text, ts.ScriptTarget.Latest, true), visit)
  return found
}

function isLiteral(node: ts.Node): node is ts.LiteralLikeNode {
  return (
    ts.isStringLiteralLike(node) ||
    ts.isTemplateMiddleOrTemplateTail(node) ||
    ts.isTemplateHead(node) ||
    ts.isRegularExpressionLiteral(node)
  )
}
