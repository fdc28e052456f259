import { BUILT, convertToFilesRead } from '../build/build-unit.ts'
import type { HelmChoice } from '../build/render-choice.ts'
import type { Source } from '../build/source.ts'
import { BUILT_EDITOR } from '../place/built-editor.ts'
import { readSyncedSource } from '../synced/read-synced.ts'
import { createPlainChartBuild } from './plain-chart.ts'

export const HELM: Source<HelmChoice> = {
  ...BUILT,
  discover: 'none',
  describe: (choice) => {
    const { tool, path, release, namespace, values } = choice
    const title = `helm template ${path || '.'} (release ${namespace}/${release})`
    return {
      title,
      how: `with ${title}`,
      key: [tool, path, release, namespace, ...values],
      unit: `Helm release ${namespace}/${release}`,
      forCluster: (capabilities) => ({ ...choice, capabilities }),
      kubectl: 'none',
      reads: 'named files',
    }
  },
  policy: {
    allowed: ['path', 'release', 'namespace', 'values'],
    required: ['release', 'namespace'],
    choiceOf: ({ path, release, namespace, values }) => ({
      tool: 'helm',
      path,
      release,
      namespace,
      values,
    }),
  },
  filesRead: async (commit, { packagePath, files, choice }, signal) =>
    convertToFilesRead(
      await readSyncedSource(
        commit,
        { packagePath, files },
        createPlainChartBuild(choice, packagePath),
        signal,
      ),
    ),
  edit: BUILT_EDITOR,
}
