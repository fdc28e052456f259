import { Failure } from '@backporch/kyaml/failure'
import { InvalidArgumentError, Option } from '@commander-js/extra-typings'

export const TEXT_OUTPUTS = ['table'] as const
export const DOCUMENT_OUTPUTS = ['table', 'json', 'yaml', 'jsonl'] as const
export const LIST_OUTPUTS = ['table', 'wide', 'name', 'json', 'yaml', 'jsonl'] as const
export const PREVIEW_OUTPUTS = ['table', 'json', 'yaml', 'jsonl', 'markdown'] as const
export const REPORT_OUTPUTS = [...LIST_OUTPUTS, 'markdown', 'github', 'sarif'] as const

export type Output = (typeof REPORT_OUTPUTS)[number]

/** `-o` of a command that prints these. */
export function createOutputOption(outputs: readonly Output[]) {
  return new Option('-o, --output <format>', 'output format')
    .choices(outputs)
    .argParser((text): Output => parseOutput(text, outputs))
    .default('table')
}

function parseOutput(text: string, outputs: readonly Output[]): Output {
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
      remedy: documents ? `give one of ${printed}` : 'remove it',
    })
  const remedy = documents
    ? `give -o one of ${printed}; for single values, give -o json and select them with jq`
    : 'remove it'
  throw new InvalidArgumentError(`this command prints ${printed}\n${remedy}`)
}

export type RenderOutput =
  | { readonly to: 'diff' }
  | { readonly to: 'unwrap' }
  | { readonly to: 'resourcelist' }
  | { readonly to: 'folder'; readonly path: string }

/** As in `kpt fn render`; `stdout` is kpt's word for the list. */
export function renderOutputOption() {
  return new Option(
    '-o, --output <what>',
    'unwrap: the rendered objects; resourcelist: all as kpt fn render -o stdout; a new folder',
  )
    .argParser(parseRenderOutput)
    .default<RenderOutput>({ to: 'diff' }, 'what would change')
}

function parseRenderOutput(text: string): RenderOutput {
  if (text === 'unwrap' || text === 'resourcelist') return { to: text }
  if (text === 'stdout') return { to: 'resourcelist' }
  if (text !== '' && !REPORT_OUTPUTS.some((name) => name === text) && !text.startsWith('jsonpath='))
    return { to: 'folder', path: text }
  throw new InvalidArgumentError(
    'render prints what would change, unwrap or resourcelist, or writes a folder\ngive one of them; a folder of this name is ./NAME',
  )
}

/** Sentences for people may follow a table. Programs read every other format. */
export function isTable(output: Output): boolean {
  return output === 'table' || output === 'wide'
}
