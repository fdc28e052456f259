export {
  ATTRIBUTION,
  attributeRender,
  isAttributed,
  withoutCommands,
} from './pipeline/attribution.ts'
export { readPipelinePackage } from './pipeline/pipeline-package.ts'
export {
  type FilesRendering,
  type PassedItems,
  renderFiles,
  throughText,
} from './pipeline/render-files.ts'
export { renderedObjects } from './pipeline/rendered-objects.ts'
export {
  formatApplied,
  formatObjects,
  formatResourceList,
  outputFiles,
} from './pipeline/rendered-output.ts'
export { type PipelineRun, type RenderWatcher, runPipeline } from './pipeline/run-pipeline.ts'
export { writeItems } from './pipeline/write-items.ts'
