export {
  htmlCode,
  markdownBlock,
  markdownCell,
  markdownCode,
  markdownLink,
  markdownProse,
} from './text/markdown-text.ts'
