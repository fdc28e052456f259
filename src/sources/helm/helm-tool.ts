import type { DesiredResource } from '@backporch/kpt/desired-set'
import { type FieldPath, formatFieldPath } from '@backporch/kyaml/field'
import { getAnnotations } from '@backporch/kyaml/resource'
import type { BuildInput, BuildTool, BuiltSource, ObjectLocations } from '../build/built-source.ts'
import { locateTemplate } from '../build/chart-templates.ts'
import { getSyncerResource } from '../build/read-built.ts'
import type { Build, BuildAnswer, BuildLibrary } from '../programs/package-builder.ts'
import { postRendered } from './chart/helm-build.ts'
import { TemplateTrace } from './chart/template-trace.ts'
import { getHelmChart, HelmLocations } from './locate/helm-locations.ts'

export const HELM_TOOL: BuildTool = {
  name: 'helm',
  asksCluster: true,
  order: createOrder,
  keepsOrigins: () => true,
  locationsIn: (source) => {
    const { folder, synced, parent } = source
    const place = {
      path: folder || '.',
      document: 0,
      item: undefined,
      line: 1,
      ...synced?.place,
      step: 'helm template',
    }
    if (parent !== undefined && synced?.ownChart !== true) return () => place
    return (object, text, line) => locateTemplate(source, object, text, line)
  },
  originOf: (source) => (desired, path) => [describeOrigin(source, desired, path)],
  locator: {
    locationsOf: createObjectLocations,
    writesDefaults: true,
    ownPlace: () => 'values of its own',
    // A release has no hook until its next upgrade.
    isMadeAnew: ({ object }) => getAnnotations(object).has('helm.sh/hook'),
  },
}

function createOrder(source: BuildInput, library: BuildLibrary): Build | BuildAnswer {
  const { folder, files, synced } = source
  if (synced === undefined || !('helm' in synced.builder.way))
    throw new TypeError(`${folder} is not a chart`)
  const order = synced.builder.way.helm({
    build: synced,
    ...getSyncerResource(source, library),
    folder,
    files,
  })
  return 'text' in order ? order : postRendered(source, order, library)
}

function createObjectLocations(
  source: BuiltSource,
  library: BuildLibrary,
  desired: DesiredResource,
): ObjectLocations {
  const values = new HelmLocations(source, library, getHelmChart(source, library))
  return {
    removal: () => values.locateRemoval(desired),
    find: ({ path, wanted }) => values.find(desired, path, wanted),
  }
}

function describeOrigin(
  { files, folder, synced }: BuiltSource,
  { id, location }: DesiredResource,
  path: FieldPath,
): string {
  const trace = new TemplateTrace({ folder, files })
  const [writer] = files.has(location.path)
    ? trace.listWriters({ template: location.path, id, field: path })
    : []
  if (writer === undefined) return `rendered by ${synced?.title ?? 'a chart'}`
  const refs = writer.refs.slice(0, 3).map((ref) => formatFieldPath(ref))
  const isWritten = writer.isField || refs.length > 0
  return `${writer.path}:${writer.line}${isWritten ? '' : ' (the nearest line of the template)'}${refs.length === 0 ? '' : `, from the values ${refs.join(', ')}`}`
}
