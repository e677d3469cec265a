/**
 * Where the file of a URL lies in the store, by Scrapy's rule: `full/<sha1 of the URL><extension>`.
 *
 * The extension is the end of the URL when Python's `mimetypes` knows it. When it does not (`a.jpg?w=100`), the type is
 * guessed from the path without the query, and the extension is Python's first one for this type; else there is none.
 * Python also reads the system's `mime.types`, if there is one. Here only Python's own table counts, so that a store looks
 * the same on every machine.
 */

import { createHash } from 'node:crypto'

/** Returns the path within the store for that URL's file. */
export function filePath(url: string): string {
  return `full/${createHash('sha1').update(url).digest('hex')}${extensionOf(url)}`
}

function extensionOf(url: string): string {
  const written = suffixOf(url)
  if (TYPE_OF.has(written)) return written
  const type = guessedType(url)
  return type === undefined ? '' : FIRST_EXTENSION.get(type)!
}

/** Returns what Python's `Path(url).suffix` does: from the last dot of the last part, unless that dot begins or ends it. */
function suffixOf(text: string): string {
  // Not by a pattern: a pattern for the slashes at the end is tried at each slash, and 300 000 of them took two minutes.
  let end = text.length
  while (text[end - 1] === '/') end--
  const name = text.slice(text.lastIndexOf('/', end - 1) + 1, end)
  const dot = name.lastIndexOf('.')
  return dot > 0 && dot < name.length - 1 ? name.slice(dot) : ''
}

/** Returns what `mimetypes.guess_type` does: an extension of compression alone (`.gz`) is removed first. */
function guessedType(url: string): string | undefined {
  let path = /^[a-z][a-z0-9+.-]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? url
  const parameters = path.indexOf(';', path.lastIndexOf('/') + 1)
  if (parameters >= 0) path = path.slice(0, parameters)
  for (let suffix = ending(path); SUFFIXES[suffix] !== undefined; suffix = ending(path))
    path = path.slice(0, -suffix.length) + SUFFIXES[suffix]
  if (PACKINGS.has(ending(path))) path = path.slice(0, -ending(path).length)
  const extension = ending(path)
  return TYPE_OF.get(extension) ?? TYPE_OF.get(extension.toLowerCase())
}

/** Returns what `posixpath.splitext` does: dots at the beginning of the last part belong to its name. */
function ending(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/^\.+/, '')
  const dot = name.lastIndexOf('.')
  return dot >= 0 ? name.slice(dot) : ''
}

const SUFFIXES: Readonly<Record<string, string>> = {
  '.svgz': '.svg.gz',
  '.tgz': '.tar.gz',
  '.taz': '.tar.gz',
  '.tz': '.tar.gz',
  '.tbz2': '.tar.bz2',
  '.txz': '.tar.xz',
}

const PACKINGS: ReadonlySet<string> = new Set(['.gz', '.Z', '.bz2', '.xz', '.br'])

// Python 3.11's `mimetypes.types_map`, in its order: the first extension of a type is the one that is guessed.
const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/javascript': '.js .mjs',
  'application/json': '.json',
  'application/manifest+json': '.webmanifest',
  'application/msword': '.doc .dot .wiz',
  'application/n-quads': '.nq',
  'application/n-triples': '.nt',
  'application/octet-stream': '.bin .a .dll .exe .o .obj .so',
  'application/oda': '.oda',
  'application/pdf': '.pdf',
  'application/pkcs7-mime': '.p7c',
  'application/postscript': '.ps .ai .eps',
  'application/trig': '.trig',
  'application/vnd.apple.mpegurl': '.m3u .m3u8',
  'application/vnd.ms-excel': '.xls .xlb',
  'application/vnd.ms-powerpoint': '.ppt .pot .ppa .pps .pwz',
  'application/wasm': '.wasm',
  'application/x-bcpio': '.bcpio',
  'application/x-cpio': '.cpio',
  'application/x-csh': '.csh',
  'application/x-dvi': '.dvi',
  'application/x-gtar': '.gtar',
  'application/x-hdf': '.hdf',
  'application/x-hdf5': '.h5',
  'application/x-latex': '.latex',
  'application/x-mif': '.mif',
  'application/x-netcdf': '.cdf .nc',
  'application/x-pkcs12': '.p12 .pfx',
  'application/x-pn-realaudio': '.ram',
  'application/x-python-code': '.pyc .pyo',
  'application/x-sh': '.sh',
  'application/x-shar': '.shar',
  'application/x-shockwave-flash': '.swf',
  'application/x-sv4cpio': '.sv4cpio',
  'application/x-sv4crc': '.sv4crc',
  'application/x-tar': '.tar',
  'application/x-tcl': '.tcl',
  'application/x-tex': '.tex',
  'application/x-texinfo': '.texi .texinfo',
  'application/x-troff': '.roff .t .tr',
  'application/x-troff-man': '.man',
  'application/x-troff-me': '.me',
  'application/x-troff-ms': '.ms',
  'application/x-ustar': '.ustar',
  'application/x-wais-source': '.src',
  'application/xml': '.xsl .rdf .wsdl .xpdl',
  'application/zip': '.zip',
  'audio/3gpp': '.3gp .3gpp',
  'audio/3gpp2': '.3g2 .3gpp2',
  'audio/aac': '.aac .adts .loas .ass',
  'audio/basic': '.au .snd',
  'audio/mpeg': '.mp3 .mp2',
  'audio/opus': '.opus',
  'audio/x-aiff': '.aif .aifc .aiff',
  'audio/x-pn-realaudio': '.ra',
  'audio/x-wav': '.wav',
  'image/avif': '.avif',
  'image/bmp': '.bmp',
  'image/gif': '.gif',
  'image/ief': '.ief',
  'image/jpeg': '.jpg .jpe .jpeg',
  'image/heic': '.heic',
  'image/heif': '.heif',
  'image/png': '.png',
  'image/svg+xml': '.svg',
  'image/tiff': '.tiff .tif',
  'image/vnd.microsoft.icon': '.ico',
  'image/x-cmu-raster': '.ras',
  'image/x-portable-anymap': '.pnm',
  'image/x-portable-bitmap': '.pbm',
  'image/x-portable-graymap': '.pgm',
  'image/x-portable-pixmap': '.ppm',
  'image/x-rgb': '.rgb',
  'image/x-xbitmap': '.xbm',
  'image/x-xpixmap': '.xpm',
  'image/x-xwindowdump': '.xwd',
  'message/rfc822': '.eml .mht .mhtml .nws',
  'text/css': '.css',
  'text/csv': '.csv',
  'text/html': '.html .htm',
  'text/n3': '.n3',
  'text/plain': '.txt .bat .c .h .ksh .pl .srt',
  'text/richtext': '.rtx',
  'text/tab-separated-values': '.tsv',
  'text/vtt': '.vtt',
  'text/x-python': '.py',
  'text/x-setext': '.etx',
  'text/x-sgml': '.sgm .sgml',
  'text/x-vcard': '.vcf',
  'text/xml': '.xml',
  'video/mp4': '.mp4',
  'video/mpeg': '.mpeg .m1v .mpa .mpe .mpg',
  'video/quicktime': '.mov .qt',
  'video/webm': '.webm',
  'video/x-msvideo': '.avi',
  'video/x-sgi-movie': '.movie',
}

const TYPE_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(EXTENSIONS).flatMap(([type, extensions]) =>
    extensions.split(' ').map((extension) => [extension, type] as const),
  ),
)

const FIRST_EXTENSION: ReadonlyMap<string, string> = new Map(
  Object.entries(EXTENSIONS).map(([type, extensions]) => [type, extensions.split(' ')[0]!]),
)
