import { convertToOneLine } from '@backporch/kyaml/text'
import {
  importBody,
  importMessage,
  importTitle,
  type NewPackage,
} from '../../proposal/text/import-text.ts'
import { importNamespace } from '../../reconcile/onboard/import-namespace.ts'
import { readCodeOwners } from '../../reconcile/repository/read-base-text.ts'
import { readRepository } from '../../reconcile/repository/repository-view.ts'
import { addSources } from '../../reconcile/repository/sources/discover-sources.ts'
import { proposeFiles } from '../../reconcile/turn/apply/propose-files.ts'
import type { TurnContext } from '../context/cli-context.ts'
import type { IMPORT_FLAGS } from '../flags/command-flags.ts'
import type { ForgeOptions, ValuesOf } from '../flags/options.ts'
import type { Printer } from '../print/printer.ts'
import { printPublished } from '../print/published-lines.ts'
import { runWithSession, type SessionOptions } from '../session/turn-session.ts'

type ImportOptions = SessionOptions & ForgeOptions & ValuesOf<typeof IMPORT_FLAGS>

export async function importObjects(options: ImportOptions, cli: TurnContext): Promise<number> {
  // The imported namespace is no default for manifests without one.
  const session = { ...options, namespace: undefined }
  return runWithSession(
    cli,
    session,
    { packages: [], gitAlone: options.dryRun === true },
    async ({ ports, request, progress, printer }) => {
      const { signal } = cli
      const read = await readRepository(ports.repository, options.branch, signal)
      const view = await addSources(read, [ports.cluster], request.renderer, signal)
      const { namespace, to: path = namespace } = options
      const wanted = {
        namespace,
        path,
        fieldManager: options.fieldManager,
        key: request.key,
        renderer: request.renderer,
      }
      const made = await importNamespace({ view, reader: ports.cluster }, wanted, signal)
      progress.end()
      if (options.dryRun === true) {
        printer.write(`${printer.ok} would be proposed:\n`)
        for (const { path: file, text } of made.files)
          printer.write(
            `  ${convertToOneLine(file, 1_000)}, ${text.split('\n').length - 1} lines\n`,
          )
        printLeft(made, printer)
        return 0
      }
      const at = `${cli.clock.now().toISOString().slice(0, 19)}Z`
      const { ref, opened, updates } = await proposeFiles(
        {
          cluster: ports.cluster.name,
          view,
          forge: ports.forge,
          codeOwners: await readCodeOwners(view, signal),
          signal,
        },
        {
          verb: 'import',
          content: JSON.stringify([
            ports.cluster.name,
            path,
            made.files.map(({ path: file, text }) => [file, text]),
          ]),
          again: at,
          files: made.files,
          at,
          message: importMessage(made),
          title: importTitle(made),
          body: importBody(made, ports.forge.dialect),
        },
      )
      const label =
        opened === undefined
          ? ref.replace(/^refs\/heads\//, '')
          : `${opened.label} ${opened.url}`.trim()
      const count = made.objects.length
      printer.write(
        `${printer.ok} proposed: ${convertToOneLine(label, 2_000)}\n  adds ${path} with ${count} ${count === 1 ? 'object' : 'objects'}\n`,
      )
      printLeft(made, printer)
      await printPublished(updates, view.baseBranch, options, printer)
      return 0
    },
  )
}

function printLeft({ notImported }: NewPackage, printer: Printer): void {
  for (const { what, why, remedy } of notImported)
    printer.write(
      `  not imported: ${convertToOneLine(`${what}: ${why}`, 400)}\n    fix: ${convertToOneLine(remedy, 400)}\n`,
    )
}
