/** What `-o` takes, for each command. */
import { Failure } from '@backporch/kyaml/failure'
import { InvalidArgumentError, Option } from '@commander-js/extra-typings'

/** Sentences for people. */
export const TEXT_OUTPUTS = ['table'] as const
/** Sentences, or a document with `items`. */
export const DOCUMENT_OUTPUTS = ['table', 'json', 'yaml', 'jsonl'] as const
/** Any list: as a table, or as a document with `items`. */
export const LIST_OUTPUTS = ['table', 'wide', 'name', 'json', 'yaml', 'jsonl'] as const
/** What a merge changes: for people, as a document, or as it is written into a comment. */
export const PREVIEW_OUTPUTS = ['table', 'json', 'yaml', 'jsonl', 'markdown'] as const
/** A list of drift reports. */
export const REPORT_OUTPUTS = [...LIST_OUTPUTS, 'markdown', 'github', 'sarif'] as const

export type Output = (typeof REPORT_OUTPUTS)[number]

/** `-o` of a command that prints these. */
export function outputOption(outputs: readonly Output[]) {
  return new Option('-o, --output <format>', 'output format')
    .choices(outputs)
    .argParser((text): Output => checkedOutput(text, outputs))
    .default('table')
}

function checkedOutput(text: string, outputs: readonly Output[]): Output {
  const known = outputs.find((name) => name === text)
  if (known !== undefined) return known
  const documents = outputs.includes('json')
  const printed = outputs.join(', ')
  if (REPORT_OUTPUTS.some((name) => name === text))
    throw new Failure({
      code: 'BP1001',
      what: `this command does not print -o ${text}`,
      why: documents
        ? 'that is for lists of drift reports: diff, scan, status and get drifts'
        : 'it prints sentences, not a list',
      remedy: documents ? `give one of ${printed}` : 'leave it out',
    })
  const remedy = documents
    ? `give -o one of ${printed}; for single values, give -o json and select them with jq`
    : 'leave it out'
  throw new InvalidArgumentError(`this command prints ${printed}\n${remedy}`)
}

/** What `render` gives: what would change, or what came out. */
export type RenderOutput =
  | { readonly to: 'diff' }
  | { readonly to: 'unwrap' }
  | { readonly to: 'resourcelist' }
  | { readonly to: 'folder'; readonly path: string }

/** `-o` of `render`, as `kpt fn render` has it; `stdout` is kpt's word for the list. */
export function renderOutputOption() {
  return new Option(
    '-o, --output <what>',
    'unwrap: the rendered objects; resourcelist: all as kpt fn render -o stdout; a new folder',
  )
    .argParser(checkedRenderOutput)
    .default<RenderOutput>({ to: 'diff' }, 'what would change')
}

function checkedRenderOutput(text: string): RenderOutput {
  if (text === 'unwrap' || text === 'resourcelist') return { to: text }
  if (text === 'stdout') return { to: 'resourcelist' }
  if (text !== '' && !REPORT_OUTPUTS.some((name) => name === text) && !text.startsWith('jsonpath='))
    return { to: 'folder', path: text }
  throw new InvalidArgumentError(
    'render prints what would change, unwrap or resourcelist, or writes a folder\ngive one of them; a folder of this name is ./NAME',
  )
}

/** A table: sentences for people may follow it on stdout. Programs read every other format. */
export function isTable(output: Output): boolean {
  return output === 'table' || output === 'wide'
}
