import type { PackageFile } from '@backporch/kyaml/files'
import { BUILT, convertToFilesRead } from '../build/build-unit.ts'
import type { RenderChoice } from '../build/render-choice.ts'
import type { Source } from '../build/source.ts'
import { joinFolderPath } from '../kustomize/files/kustomization-walk.ts'
import { BUILT_EDITOR } from '../place/built-editor.ts'
import { COMMAND_TOOL } from './command-tool.ts'

export const COMMAND: Source<Extract<RenderChoice, { readonly tool: 'command' }>> = {
  ...BUILT,
  discover: 'none',
  describe: ({ tool, command }) => {
    const title = `the command ${JSON.stringify(command.join(' '))}`
    return {
      title,
      how: `with ${title}`,
      key: [tool, ...command],
      kubectl: 'none',
      reads: 'every file',
    }
  },
  policy: {
    allowed: ['command'],
    required: ['command'],
    choiceOf: ({ command }) => ({ tool: 'command', command }),
  },
  filesRead: async (_commit, { packagePath, files, choice: { command } }) => {
    const own = files.map(
      (file): PackageFile => ({ ...file, path: joinFolderPath(packagePath, file.path) }),
    )
    const byPath = new Map(
      own
        .filter(({ mode }) => mode === '100644' || mode === '100755')
        .map((file) => [file.path, file]),
    )
    return convertToFilesRead({
      source: {
        packagePath,
        package: files,
        tool: COMMAND_TOOL,
        folder: packagePath,
        files: byPath,
        command,
      },
      failures: [],
    })
  },
  edit: BUILT_EDITOR,
}
