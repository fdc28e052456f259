import type { ForgeDialect } from '@backporch/forge/hosted-forge'
import {
  formatMarkdownBlock,
  formatMarkdownCell,
  formatMarkdownLink,
} from '@backporch/kyaml/markdown'
import { convertToOneLine } from '@backporch/kyaml/text'
import { commitText } from '../../record/commit-text.ts'
import { fitSubject } from '../../record/subject.ts'
import { formatDocument } from '../../record/write-document.ts'
import { formatMarkdownTable } from './words.ts'

export interface PolicySubject {
  readonly verb: 'ignore' | 'unignore'
  /** As `Deployment/web spec.replicas`. */
  readonly about: string
  readonly rules: readonly object[]
  readonly files: readonly string[]
  /** `requested` is the proposal with the request; undefined for the command line. */
  readonly by: string
  readonly requested: { readonly label: string; readonly url: string } | undefined
}

export function formatPolicyTitle({ verb, about }: PolicySubject): string {
  return fitSubject(
    'chore',
    `${verb === 'ignore' ? 'ignore' : 'no longer ignore'} ${about}`,
    '',
    false,
  )
}

export function formatPolicyMessage(subject: PolicySubject): string {
  const where =
    subject.requested === undefined ? 'on the command line' : 'in a comment on a drift proposal'
  const requested = `Requested by ${commitText(convertToOneLine(subject.by, 60))} ${where}.`
  return `${formatPolicyTitle(subject)}\n\n${requested} Changes ${subject.files.map((file) => commitText(convertToOneLine(file, 200))).join(', ')} and nothing else.\n`
}

export function formatPolicyBody(subject: PolicySubject, { bodyLimit }: ForgeDialect): string {
  const { verb, rules, files, by, requested } = subject
  const where = files.map((file) => formatMarkdownCell(file, 200)).join(', ')
  const what = verb === 'ignore' ? 'adds to' : 'removes from'
  const yaml = rules
    .map((rule) => `- ${formatDocument(rule).trimEnd().replaceAll('\n', '\n  ')}`)
    .join('\n')
  const merged =
    verb === 'ignore'
      ? 'drift that matches a rule is no longer reported, in every cluster and package of that policy'
      : 'drift that the rule ignored is reported again'
  const requestedIn =
    requested === undefined
      ? 'on the command line'
      : `in ${formatMarkdownLink(formatMarkdownCell(requested.label, 60), requested.url)}`
  const bodyWith = (block: string): string =>
    [
      `**This ${what} ${where} the rules below**, as ${formatMarkdownCell(by, 60)} requested ${requestedIn}.`,
      '',
      block,
      '',
      ...formatMarkdownTable(
        ['You', 'What happens'],
        [
          ['**merge**', merged],
          ['**close**', 'nothing changes'],
        ],
      ),
      'Neither choice writes to a cluster. You can edit the branch before the merge.',
      '',
    ].join('\n')
  const whole = bodyWith(formatMarkdownBlock(yaml, 'yaml', 500))
  return whole.length <= bodyLimit
    ? whole
    : bodyWith(`${rules.length} rules: see the changed files.`)
}
