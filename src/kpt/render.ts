export {
  ATTRIBUTION,
  attributeRender,
  isAttributed,
  removeLiveCommands,
} from './pipeline/attribution.ts'
export { readPipelinePackage } from './pipeline/pipeline-package.ts'
export {
  type FilesRendering,
  type PassedItems,
  passThroughText,
  renderFiles,
} from './pipeline/render-files.ts'
export { buildRenderedObjects } from './pipeline/rendered-objects.ts'
export {
  formatApplied,
  formatObjects,
  formatResourceList,
  writeOutputFiles,
} from './pipeline/rendered-output.ts'
export { type PipelineRun, type RenderWatcher, runPipeline } from './pipeline/run-pipeline.ts'
export { writeItems } from './pipeline/write-items.ts'
