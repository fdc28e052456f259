import type { ForgeDialect } from '@backporch/forge/hosted-forge'
import { formatMarkdownCell } from '@backporch/kyaml/markdown'
import { convertToOneLine } from '@backporch/kyaml/text'
import { commitText } from '../../record/commit-text.ts'
import { fitSubject } from '../../record/subject.ts'
import type { ObjectPackage } from '../../sources/place/object-package.ts'
import type { NewObject } from '../../sources/place/prove-placed.ts'
import { count, formatMarkdownTable } from './words.ts'

export interface NotImported {
  readonly what: string
  readonly why: string
  readonly remedy: string
}

export interface NewPackage
  extends ObjectPackage<NewObject & { readonly unproven?: string | undefined }> {
  readonly namespace: string
  readonly cluster: string
  readonly path: string
  readonly notImported: readonly NotImported[]
}

export function importTitle({ namespace, path }: NewPackage): string {
  return fitSubject('chore', `import the namespace ${namespace} as ${path}`, '', false)
}

export function importMessage(subject: NewPackage): string {
  const { cluster, objects } = subject
  return `${importTitle(subject)}\n\nThe package has ${count(objects.length, 'object')} of ${commitText(convertToOneLine(cluster, 200))} that were unmanaged, as they are live.\n`
}

export function importBody(subject: NewPackage, { bodyLimit }: ForgeDialect): string {
  const { namespace, cluster, path, objects, notImported } = subject
  const unproven = objects.filter((object) => object.unproven !== undefined)
  const head = [
    `**This adds the package ${formatMarkdownCell(path, 200)}** with ${count(objects.length, 'object')} of the namespace ${formatMarkdownCell(namespace, 100)} in ${formatMarkdownCell(cluster, 100)} that are unmanaged, as they are live: without status, defaults and fields that the server writes.`,
    '',
    ...formatMarkdownTable(
      ['You', 'What happens'],
      [
        [
          '**merge**',
          'git declares the objects; the cluster is unchanged until a syncer applies the package',
        ],
        ['**close**', 'nothing changes'],
      ],
    ),
    ...(unproven.length === 0
      ? []
      : [
          '',
          `No dry run proved ${unproven.length} of the manifests, so they may have defaults of the server.`,
        ]),
  ]
  const left = [
    '',
    `Not imported: ${notImported.length}`,
    '',
    ...formatMarkdownTable(
      ['What', 'Why', 'Instead'],
      notImported.map(({ what, why, remedy }) =>
        [what, why, remedy].map((text) => formatMarkdownCell(text, 300)),
      ),
    ),
  ]
  const foot = [
    '',
    'Neither choice writes to a cluster. You can edit the branch before the merge.',
    '',
  ]
  const whole = [...head, ...(notImported.length === 0 ? [] : left), ...foot].join('\n')
  return whole.length <= bodyLimit
    ? whole
    : [...head, '', `Not imported: ${notImported.length}`, ...foot].join('\n')
}
