/** Endings of URLs that lead to no page; what `denyExtensions` is unless it is given. Scrapy's list. */
export const IGNORED_EXTENSIONS: readonly string[] = Object.freeze(
  [
    '7z 7zip bz2 rar tar tar.gz xz zip', // archives
    'mng pct bmp gif jpg jpeg png pst psp tif tiff ai drw dxf eps ps svg cdr ico webp', // images
    'mp3 wma ogg wav ra aac mid au aiff', // sound
    '3gp asf asx avi mov mp4 mpg qt rm swf wmv m4a m4v flv webm', // video
    'xls xlsm xlsx xltm xltx potm potx ppt pptm pptx pps doc docb docm docx dotm dotx odt ods odg odp', // office
    'css pdf exe bin rss dmg iso apk jar sh rb js hta bat cpl msi msp py', // others
  ].flatMap((line) => line.split(' ')),
)
